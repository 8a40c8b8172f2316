program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    f[0] = fma(u[0], u[1], u[2]);
}
// expect: 5:16: error[V028] `fma` takes f32 or f64, not u32
