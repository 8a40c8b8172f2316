program p workgroup(64) elements(64) {
    inout u : u32[4];
    workgroup w : u32[];

    u[0] = w[0];
}
// expect: 3:5: error[V109] workgroup `w` needs a size
