program p workgroup(64) elements(64) {
    inout u : u32[4 & 3];

    u[0] = 1;
}
// expect: 2:19: error[V242] this can't stand in a size
