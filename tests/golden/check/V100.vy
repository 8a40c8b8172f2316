program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    if (!f[0]) {
        u[0] = 1;
    }
}
// expect: 5:10: error[V100] `!` takes bool or u32, not f32
