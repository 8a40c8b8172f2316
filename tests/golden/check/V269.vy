program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    if (local_id.x < 7) {
        u[0] = subgroup_add(1);
    }
}
// expect: 6:16: error[V269] not all lanes of the subgroup come to this subgroup_add together: the condition at line 5 varies
// expect: 5:9: note this condition is not the same for all lanes: it depends on `local_id.x`
