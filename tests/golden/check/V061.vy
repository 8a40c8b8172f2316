program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    atomic_add(x[0], 1);
}
// expect: 5:16: error[V061] atomic on an unknown buffer `x`
