program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    f[0] = select(true, f[0], u[0]);
}
// expect: 5:12: error[V029] `select` mixes f32 and u32
