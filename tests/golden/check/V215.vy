program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = len(u[0]);
}
// expect: 5:12: error[V215] `len` takes the name of one buffer or array
