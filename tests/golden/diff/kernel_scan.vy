// A scan over the grid in three phases: groups, sums of groups, and both.
program p workgroup(32) grid(4) {
    in        a    : u32[128];
    out       upto : u32[128];
    scratch   sums : u32[4];
    workgroup t    : u32[64];

    let l = local_id.x;
    let from = 0;
    t[l] = a[global_id.x];
    barrier;
    for (let d = 1; d < 32; d *= 2) {
        let to = 32 - from;
        t[to + l] = t[from + l] + (l >= d ? t[from + l - d] : 0);
        from = to;
        barrier;
    }
    if (l == 31) {
        sums[group_id.x] = t[from + l];
    }
    grid_sync;
    let before = 0;
    for (g in 0 .. group_id.x) {
        before += sums[g];
    }
    upto[global_id.x] = before + t[from + l];
}
