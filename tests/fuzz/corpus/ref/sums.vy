program sums workgroup(64) {
    in x : u32[]; out r : u32[64];
    workgroup part : u32[64];
    part[local_id.x] = x[global_id.x];
    barrier;
    let half = 32;
    for (i in 0 .. 6) {
        if (local_id.x < half) { part[local_id.x] = part[local_id.x] + part[local_id.x + half]; }
        half = half / 2;
        barrier(acquire);
    }
    if (local_id.x == 0) { r[group_id.x + group_id.y * num_groups.x] = part[0]; }
}
