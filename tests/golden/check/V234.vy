program p workgroup(64) elements(64) {
    inout u : u32[64];
    u[0] = 1;
}
u[0] = 2;
// expect: 5:1: error[V234] expected the end of the text behind the program, found `u`
