program p workgroup(64) elements(64) {
    workgroup w : u32[1 << 20];

    w[0] = 1;
}
// expect: 2:5: error[V245] workgroup arrays take more than 1048576 bytes
