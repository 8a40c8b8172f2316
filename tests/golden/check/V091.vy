program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    f[0] = f[0] & f[1];
}
// expect: 5:12: error[V091] `&` takes integers, not f32
