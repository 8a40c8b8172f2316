program p workgroup(64, 0) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = 1;
}
// expect: 1:1: error[V106] the workgroup has size 0 along y
