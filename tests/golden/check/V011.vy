program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    for (i in 0 .. 4) {
        i = i + 1;
    }
}
// expect: 6:9: error[V011] `i` is a loop variable and can't be assigned
