// A sum by subgroups, as with cooperative groups: each leader keeps one value, one workgroup adds them.
program warps workgroup(256) grid(64) {
    in      x    : f32[];
    out     sum  : f32[1];
    scratch part : f32[512];

    let mine = 0.0;
    for (i in global_id.x .. len(x) step global_size.x) {
        mine = mine + x[i];
    }
    let s = subgroup_add(mine);
    if (subgroup_local_id == 0) {
        part[global_id.x / 32] = s;
    }
    grid_sync;
    let rest = 0.0;
    for (k in 0 .. 16) {
        rest = rest + part[k * 32 + subgroup_local_id];
    }
    let all = subgroup_add(rest);
    if (global_id.x == 0) {
        sum[0] = all;
    }
}
