program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    break;
}
// expect: 5:5: error[V255] break outside of a loop
