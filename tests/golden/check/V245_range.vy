program p workgroup(64) elements(64) {
    inout u : u32[4 - 5];

    u[0] = 1;
}
// expect: 2:19: error[V245] the size is out of range
