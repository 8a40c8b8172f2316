program p workgroup(64) elements(64) {
    inout f : u32[4][16];
    inout n : u32;

    f[0][0] = len(f, 2) + len(n, 1);
    f[0][1] = len(f, 0) + len(f, 1) + len(n, 0);
}
// expect: 5:22: error[V290] `f` has 2 dimensions
// expect: 5:34: error[V290] `n` has 1 dimension
