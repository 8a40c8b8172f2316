// Subgroups that go their own ways, between barriers, in loops by subgroups, with lanes that end.
program subgroup_control workgroup(72) grid(2) {
    in        x : u32[144];
    out       a : u32[144];
    out       f : f32[144];
    workgroup w : u32[72];

    let me = local_id.x;
    let at = global_id.x;
    let warp = me / 32;
    if (x[at] % 7 == 3) {
        exit;
    }
    w[me] = x[at];
    barrier;
    let sum = 0;
    if (warp != 1) {
        sum = subgroup_add(x[at]);
        if (me >= 64) {
            sum = sum + subgroup_scan_add(me);
        } else {
            f[at] = subgroup_mul(f32(x[at] % 5) * 0.7);
        }
    }
    for (i in warp .. 9 step 2) {
        let seen = subgroup_shuffle_up(w[(me + i) % 72], i);
        if (subgroup_any(seen % 11 == i)) {
            sum = sum + subgroup_ballot(seen > 100);
            if (i == 4) {
                break;
            }
            continue;
        }
        if (seen % 13 == 1) {
            exit;
        }
        sum = sum + subgroup_max(seen);
    }
    barrier;
    let left = subgroup_add(1);
    while (left > 3) {
        if (subgroup_all(x[at] != left)) {
            f[at] = f[at] + subgroup_add(1.0 / f32(left + me));
        }
        left = left - subgroup_min(2 + me / 32);
    }
    a[at] = sum + subgroup_shuffle(left + me, left);
}
