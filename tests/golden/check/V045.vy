program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    let x = 1;
    x = f[0];
}
// expect: 6:9: error[V045] `x` is u32, but the value is f32
