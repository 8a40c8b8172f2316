program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    atomic_add(u[1i], 1);
}
// expect: 5:18: error[V027] the index is i32, not u32
