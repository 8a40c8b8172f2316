program p workgroup(64, 64, 2) grid(1) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = 1;
}
// expect: 1:1: error[V246] the workgroup has more than 4096 lanes
