program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    for (i in 0 .. 4 step 1i) {
        u[i] = 1;
    }
}
// expect: 5:27: error[V253] the step of a loop is i32, not u32
