// Lanes start apart and make as many trips.
program p workgroup(16, 4) grid(3) {
    in        a   : u32[300];
    out       o   : u32[768];
    out       sum : u32[300];
    workgroup t   : u32[64];

    let lane = local_id.y * 16 + local_id.x;
    for (i in lane .. 256 step 64) {
        t[lane] = a[i];
        barrier;
        o[group_id.x * 256 + i] = t[63 - lane];
        barrier;
    }
    let stride = global_size.x;
    for (i in global_id.x .. len(a) / stride * stride step stride) {
        grid_sync;
        atomic_add(sum[i], a[i] + o[i]);
    }
}
