program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[1i] = 1;
}
// expect: 5:7: error[V122] the index is i32, not u32
