program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    atomic_add(u[0], f[0]);
}
// expect: 5:22: error[V057] the value is f32, not u32
