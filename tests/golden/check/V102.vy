program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = sqrt(u[0]);
}
// expect: 5:17: error[V102] `sqrt` takes f32 or f64, not u32
