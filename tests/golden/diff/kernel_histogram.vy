// After cuSZ: a histogram of each group, merged, then as a cumulative one.
program p workgroup(32) grid(3) {
    in        codes : u32[300];
    out       upto  : u32[64];
    scratch   all   : u32[64];
    workgroup mine  : u32[64];

    for (i in global_id.x .. len(codes) step global_size.x) {
        atomic_add(mine[codes[i] & 63], 1);
    }
    barrier;
    for (b in local_id.x .. 64 step 32) {
        atomic_add(all[b], mine[b]);
        barrier;
    }
    grid_sync;
    if (group_id.x > 0) {
        return;
    }
    for (b in local_id.x .. 64 step group_size.x) {
        mine[b] = all[b];
    }
    barrier;
    for (let d = 1; d < 64; d *= 2) {
        let low = local_id.x < d ? 0 : mine[local_id.x - d];
        let high = mine[local_id.x + 32 - d];
        barrier;
        mine[local_id.x] += low;
        mine[local_id.x + 32] += high;
        barrier;
    }
    upto[local_id.x] = mine[local_id.x];
    upto[local_id.x + 32] = mine[local_id.x + 32];
}
