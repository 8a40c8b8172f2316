program p workgroup(64) grid(4) {
    in        size  : u32[64];
    inout     u     : u32[64];
    workgroup tile  : u32[64];
    workgroup total : u32;

    tile[local_id.x] = size[63 - local_id.x];
    if (local_id.x < 8) {
        atomic_add(total, size[local_id.x]);
    }
    barrier;
    for (i in 0 .. tile[3] + total) {
        grid_sync;
        u[local_id.x] = i;
    }
}
