// Segments that are bound to their groups, and the parts between workgroup barriers.
program groups workgroup(64) {
    in a : u32[];
    inout b : u32[len(a)];
    workgroup t : u32[64];
    t[local_id.x] = a[global_id.x];
    barrier;
    if (local_id.x < 32) { // a step of a tree
        t[local_id.x] = t[local_id.x] + t[local_id.x + 32];
    }
    barrier;
    let s = 0;
    for (k in 0 .. local_id.x) { // trips that vary
        s = s + t[k];
    }
    barrier;
    atomic_add(t[s % 64], 1);
    barrier;
    b[global_id.x] = t[63 - local_id.x];
    grid_sync;
    b[global_id.x] = subgroup_add(b[global_id.x]);
    grid_sync;
    b[global_id.x] = b[global_id.x] + group_id.x;
    grid_sync;
    for (r in group_id.x * 2 .. len(a) step num_groups.x * 2) { // a subgroup for each row
        let all = subgroup_add(a[r + local_id.x]);
        if (subgroup_local_id == 0) {
            b[r + local_id.x / 32] = all;
        }
    }
}
