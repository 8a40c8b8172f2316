program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    exit;
    u[0] = 1;
}
// expect: 6:5: warning[V256] no lane comes to this statement
