program ranks workgroup(4) {
    inout x : u32[]; out y : u32[64]; out z : u32[64];
    x[global_id.x] = global_id.x + 1;
    all_reduce(x, sum);
    all_gather(x, y);
    reduce_scatter(x, z, max);
    broadcast(x, 0);
    y[global_id.x] = y[global_id.x] + 100;
}
