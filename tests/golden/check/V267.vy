program p workgroup(64) {
    inout f : f32[64];
    inout u : u32[64];

    if (len(u) == 1) {
        indirect_dispatch(u, 0);
    }
}
// expect: 6:9: error[V267] indirect_dispatch in a nested list
