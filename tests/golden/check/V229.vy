program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    min(u[0], 1);
}
// expect: 5:5: error[V229] the value of this statement is not used
