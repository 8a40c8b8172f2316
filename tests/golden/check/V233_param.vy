program p workgroup(64) elements(64) {
    inout u : u32[4];
    param k : u32 = 1 + 2;

    u[0] = k;
}
// expect: 3:21: error[V233] the default of a param is a literal
