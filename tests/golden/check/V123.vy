program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    if (f[0]) {
        u[0] = 1;
    }
}
// expect: 5:9: error[V123] a condition is bool or u32, not f32
