program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = (1];
}
// expect: 5:14: error[V207] `]` does not close the `(` of line 5
