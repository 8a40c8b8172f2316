program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    all_reduce(u, average);
}
// expect: 5:19: error[V235] expected the operation of a collective, found `average`
