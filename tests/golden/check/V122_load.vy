program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    f[0] = f[f[1]];
}
// expect: 5:14: error[V122] an index takes u32, not f32
