program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    ..;
}
// expect: 5:5: error[V228] expected a statement, found `..`
