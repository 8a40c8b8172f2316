program p workgroup(64) {
    inout f : f32[64];
    inout u : u32[64];

    indirect_dispatch(u, 6);
    u[0] = 1;
}
// expect: 5:26: error[V126] the byte offset is not a constant multiple of 4
