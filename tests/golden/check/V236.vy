program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    return u[0];
}
// expect: 5:5: error[V236] the entry body can't return a value
