// Subgroups of a group of 8 by 8 hold four rows, so neither rows nor x tell whole subgroups apart.
program p workgroup(8, 8) grid(2) {
    inout u : u32[64];

    let sum = subgroup_add(local_id.x);
    if (sum == 3) {
        u[0] = subgroup_add(1);
    }
    if (local_id.y < 4) {
        u[0] = subgroup_add(1);
    }
}
// expect: 10:16: error[V269] not all lanes of the subgroup come to this subgroup_add together: the condition at line 9 varies
// expect: 9:9: note this condition is not the same for all lanes: it depends on `local_id.y`
