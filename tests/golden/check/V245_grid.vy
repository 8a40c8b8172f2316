program p workgroup(2, 4) grid(7, 1073741824) {
    out a : u32[8];
    a[global_id.x] = 1;
}
// expect: 1:35: error[V245] 1073741824 groups of 4 lanes along y: global ids would not fit u32
