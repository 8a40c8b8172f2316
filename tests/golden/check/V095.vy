program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    if (f[0] && true) {
        u[0] = 1;
    }
}
// expect: 5:9: error[V095] `&&` takes bool or u32, not f32
