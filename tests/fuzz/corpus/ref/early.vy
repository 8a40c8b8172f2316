program early workgroup(8) {
    out r : u32[64]; inout f : u32[];
    if (global_id.x % 3 == 0) { exit; }
    f[global_id.x + global_size.x * global_id.y] = global_id.x;
    barrier;
    if (local_id.x == 7) { exit; }
    grid_sync;
    r[global_id.x + global_size.x * global_id.y] = f[global_id.x + 1] + 1;
}
