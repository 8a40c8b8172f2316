program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = unpack4_low(f[0]);
}
// expect: 5:24: error[V103] `unpack4_low` takes u32 or i32, not f32
