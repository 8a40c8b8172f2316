program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    indirect_dispatch(u, 0);
}
// expect: 5:5: error[V268] indirect_dispatch in a program that has its own grid
