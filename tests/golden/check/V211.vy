program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    let = 1;
}
// expect: 5:9: error[V211] expected a name, found `=`
