program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    f[0] = popcount(f[0]);
}
// expect: 5:21: error[V101] `popcount` takes integers, not f32
