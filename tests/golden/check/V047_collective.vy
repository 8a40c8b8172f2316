program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    all_reduce(f, xor);
}
// expect: 5:5: error[V047] a collective can't xor f32 elements
