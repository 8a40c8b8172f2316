program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    atomic_cas(u[0], f[0], 1);
}
// expect: 5:22: error[V058] the expected value is f32, not u32
