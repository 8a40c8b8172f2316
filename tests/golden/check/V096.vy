program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    if (u[0] == f[0]) {
        u[0] = 1;
    }
}
// expect: 5:9: error[V096] `==` mixes u32 and f32
