// What whole subgroups share: numbers of subgroups, comparisons at their borders, results.
program p workgroup(64) elements(128) {
    const border = 16 * 2;
    in        n : u32[8];
    inout     u : u32[128];
    workgroup w : u32[64];

    let me = local_id.x;
    let warp = me / 32;
    if (warp == 0) {
        u[global_id.x] = subgroup_add(me);
    }
    if (local_id.x < 32 && n[warp] == 1) {
        u[global_id.x] = subgroup_min(me);
    }
    if (me >= border) {
        u[global_id.x] = subgroup_max(me);
    } else {
        u[global_id.x] = subgroup_shuffle(me, warp);
    }
    if (31 < me || global_id.x <= 95) {
        u[global_id.x] = subgroup_or(me);
    }
    for (i in local_id.x >> 5 .. n[0] step 8) {
        let sum = subgroup_scan_add(i);
        if (subgroup_any(sum > 3)) {
            u[global_id.x] = subgroup_ballot(sum > i);
            break;
        }
        if (subgroup_shuffle(sum, 3) == 2) {
            continue;
        }
        u[global_id.x] = subgroup_shuffle_xor(sum, 1);
    }
    let total = subgroup_add(me);
    while (total > 100) {
        total = subgroup_max(total - me) / 2;
    }
    w[me] = total;
    barrier;
    if (w[warp * 32] == w[global_id.x / subgroup_size & 63]) {
        u[global_id.x] = subgroup_xor(me);
    }
}
