program p workgroup(64) elements(64) {
    inout u : u32[64];
    param k : u32 = 2;

    k = 1;
}
// expect: 5:5: error[V119] `k` is not a variable and can't be assigned
