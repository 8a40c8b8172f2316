program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    f[0] = bitcast(u[0]);
}
// expect: 5:12: error[V216] `bitcast` takes a computing type in < >
