program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    while (atomic_sub(u[0], 1) != 0) {
        u[1] = 1;
    }
}
// expect: 5:12: error[V222] `atomic_sub` has an effect and can't stand in the condition of a `while`
