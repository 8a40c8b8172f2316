program p workgroup(64) elements(64) {
    inout u : u32[64];
    opaque fn bump() reads(u) {
        u[0] = u[0] + 1;
    }
    bump();
}
// expect: 3:5: error[V031] `bump` writes `u` but does not say so
