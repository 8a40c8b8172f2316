// In a group of one subgroup what that shares is shared by the group.
program p workgroup(8, 4) grid(2) {
    inout u : u32[64];

    let sum = subgroup_add(u[global_id.x]);
    if (sum > 3) {
        barrier;
    }
    if (subgroup_shuffle(u[local_id.x], sum) == 2) {
        let most = group_max(sum);
        u[global_id.x] = most;
    }
}
