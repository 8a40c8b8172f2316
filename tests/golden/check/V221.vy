program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    if (u[0] == 0 && atomic_add(u[1], 1) == 0) {
        u[2] = 1;
    }
}
// expect: 5:22: error[V221] `atomic_add` has an effect and can't stand on the right of `&&` or `||` or in an arm of `?:`, where it might not be evaluated
