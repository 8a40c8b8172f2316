program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    else {
        u[0] = 1;
    }
}
// expect: 5:5: error[V237] this `else` belongs to no `if`
