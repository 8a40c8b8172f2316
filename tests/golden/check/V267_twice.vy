program p workgroup(64) {
    inout f : f32[64];
    inout u : u32[64];

    indirect_dispatch(u, 0);
    indirect_dispatch(u, 12);
}
// expect: 6:5: error[V267] a program has at most one indirect_dispatch
