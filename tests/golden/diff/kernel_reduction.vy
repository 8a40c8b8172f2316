// After reductionMultiBlockCG: each group a partial sum, then one group the total.
program p workgroup(32) grid(3) {
    in        a    : u32[200];
    out       sum  : u32[1];
    scratch   part : u32[3];
    workgroup t    : u32[32];

    let mine = 0;
    for (i in global_id.x .. len(a) step global_size.x) {
        mine += a[i];
    }
    t[local_id.x] = mine;
    for (let s = group_size.x / 2; s > 0; s >>= 1) {
        barrier;
        if (local_id.x < s) {
            t[local_id.x] += t[local_id.x + s];
        }
    }
    if (local_id.x == 0) {
        part[group_id.x] = t[0];
    }
    grid_sync;
    if (group_id.x == 0) {
        t[local_id.x] = local_id.x < num_groups.x ? part[local_id.x] : 0;
        barrier;
        for (let s = 16; s > 0; s >>= 1) {
            if (local_id.x < s) {
                t[local_id.x] += t[local_id.x + s];
            }
            barrier;
        }
        if (local_id.x == 0) {
            sum[0] = t[0];
        }
    }
}
