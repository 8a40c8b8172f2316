program p workgroup(64) elements(64) {
    inout a : f32[2 - 4][1 - 3];
    a[0][0] = 1.0;
}
// expect: 2:19: error[V245] the size is out of range
