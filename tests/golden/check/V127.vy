program p workgroup(64) {
    inout u : u32[4];
    workgroup w : u32[4];

    indirect_dispatch(w, 0);
    u[0] = 1;
}
// expect: 5:5: error[V127] the grid can't be read from workgroup `w`
