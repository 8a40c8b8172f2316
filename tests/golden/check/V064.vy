program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    x[0] = 1;
}
// expect: 5:5: error[V064] store to an unknown buffer `x`
