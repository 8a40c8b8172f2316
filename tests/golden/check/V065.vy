program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = x[0];
}
// expect: 5:12: error[V065] load from an unknown buffer `x`
