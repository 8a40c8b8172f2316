program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    if (u[0] == 0) {
        inout v : u32[4];
    }
}
// expect: 6:9: error[V227] declarations stand at the top level of the program
