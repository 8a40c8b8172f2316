// Groups of 40 lanes do not begin at multiples of 32.
program p workgroup(40) elements(80) {
    inout u : u32[80];

    if (local_id.x / 32 == 0) {
        u[local_id.x] = subgroup_add(1);
    }
    if (global_id.x / 32 == 0) {
        u[0] = subgroup_add(1);
    }
}
// expect: 9:16: error[V269] not all lanes of the subgroup come to this subgroup_add together: the condition at line 8 varies
// expect: 8:9: note this condition is not the same for all lanes: it depends on `global_id.x`
