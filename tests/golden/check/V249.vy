program p workgroup(8, 8) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = 1;
}
// expect: 1:36: error[V249] elements() goes along one axis, but the workgroup has 2
