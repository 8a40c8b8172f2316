program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    atomic_add(u[0], 1, sometimes);
}
// expect: 5:25: error[V220] expected an ordering, found `sometimes`
