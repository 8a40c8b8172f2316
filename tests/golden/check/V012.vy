program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    f[0] = bitcast<f32>(1ul);
}
// expect: 5:12: error[V012] bitcast from u64 to f32
