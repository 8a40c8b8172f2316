program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    for (i in 0i .. 4) {
        u[i] = 1;
    }
}
// expect: 5:15: error[V124] the first value of a loop is i32, not u32
