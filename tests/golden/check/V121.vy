program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = f[0];
}
// expect: 5:12: error[V121] the stored value is f32, not u32
