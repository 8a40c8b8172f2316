program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    atomic_add(u, 1);
}
// expect: 5:16: error[V214] the first argument of an atomic is an element of memory
