// Those elements that are wanted, in order, without the others between them: ranks by ballots.
program compact workgroup(256) grid(64) {
    in        x    : u64[];
    out       kept : u64[len(x)];
    out       size : u32[1];
    scratch   sums : u32[64];
    workgroup line : u32[8]; // of each subgroup

    fn is_wanted(i : u32) -> bool {
        return i < len(x) && (x[i] >> 61) < 3;
    }

    let warp = local_id.x / 32;
    let per = (len(x) + 16383) / 16384 * 256; // elements of a workgroup
    let first = group_id.x * per;
    let mine = 0;
    for (i in first + local_id.x .. first + per step 256) {
        mine = mine + u32(is_wanted(i));
    }
    let part = subgroup_add(mine);
    if (subgroup_local_id == 0) {
        atomic_add(line[0], part, relaxed);
    }
    barrier;
    if (local_id.x == 0) {
        sums[group_id.x] = line[0];
    }
    grid_sync;
    let base = 0;
    for (g in 0 .. group_id.x) {
        base = base + sums[g];
    }
    for (k in first .. first + per step 256) {
        let i = k + local_id.x;
        let keep = is_wanted(i);
        let ballot = subgroup_ballot(keep);
        if (subgroup_local_id == 0) {
            line[warp] = popcount(ballot);
        }
        barrier;
        let place = base + popcount(ballot & ((1 << subgroup_local_id) - 1));
        for (w in 0 .. 8) {
            let here = line[w];
            place = place + select(w < warp, here, 0);
            base = base + here;
        }
        if (keep) {
            kept[place] = x[i];
        }
        barrier;
    }
    if (group_id.x == 63 && local_id.x == 0) {
        size[0] = base;
    }
}
