program p workgroup(64) elements(64) {
    workgroup w : u32[4];
    inout u : u32[64];

    all_reduce(w, sum);
}
// expect: 5:5: error[V046] a collective can't write workgroup `w`
