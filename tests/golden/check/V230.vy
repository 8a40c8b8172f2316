program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    let x : f32 = u[0];
}
// expect: 5:13: error[V230] the declared type is f32, the value has u32
