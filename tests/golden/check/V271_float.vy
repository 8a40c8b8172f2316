program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    atomic_sub(f[0], 1.0);
}
// expect: 5:5: error[V271] atomic_sub can't work on elements of type f32
