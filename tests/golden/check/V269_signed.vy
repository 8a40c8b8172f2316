// A signed quotient rounds towards 0: -31 to 31 give 0.
program p workgroup(64) elements(64) {
    inout u : u32[64];

    let place = i32(local_id.x) - 64i;
    if (place >> 5 == -1i) {
        u[local_id.x] = subgroup_add(1);
    }
    if (place / 32i == 0i) {
        u[0] = subgroup_add(1);
    }
}
// expect: 10:16: error[V269] not all lanes of the subgroup come to this subgroup_add together: the condition at line 9 varies
// expect: 9:9: note this condition is not the same for all lanes: it depends on `place`
// expect: 5:5: note `place` varies: its value here depends on `local_id.x`
