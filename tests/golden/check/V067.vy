program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = len(x);
}
// expect: 5:16: error[V067] length of an unknown buffer `x`
