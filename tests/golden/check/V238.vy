program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    all_reduce(x, sum);
}
// expect: 5:16: error[V238] unknown buffer `x`
