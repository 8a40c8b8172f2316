program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    for (i in 0 .. 4 step 0) {
        u[i] = 1;
    }
}
// expect: 5:27: error[V254] a loop with step 0 makes no trips
