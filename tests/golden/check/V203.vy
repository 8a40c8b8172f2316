program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = 0x;
}
// expect: 5:12: error[V203] the number `0x` has an unknown suffix; known are i, u, l, ul, f and d
