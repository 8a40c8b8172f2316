program p workgroup(64) elements(64) {
    inout u : u32[64];
    u[0] = 1;
}
/* to be continued
// expect: 5:1: error[V202] this comment has no end
