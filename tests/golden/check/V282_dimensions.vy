program p workgroup(64) elements(64) {
    inout a : f32[4][16];
    inout b : f32[16][4];
    inout c : f32[64];

    a[0][0] = 1.0;
    b[0][0] = 1.0;
    c[0] = 1.0;
    swap(a, b);
    swap(a, c);
}
// expect: 9:5: error[V282] dimension 1 of `a` is 16, of `b` 4
// expect: 10:5: error[V282] `a` has 2 dimensions, `c` has 1
