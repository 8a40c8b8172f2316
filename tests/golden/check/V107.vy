program p workgroup(64) elements(64) {
    inout u : u32[4];
    in u : f32[4];

    u[0] = 1;
}
// expect: 3:8: error[V107] `u` is already declared in line 2
