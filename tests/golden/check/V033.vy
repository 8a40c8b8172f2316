program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~u[1];
}
// expect: 5:15: error[V033] this expression is more than 128 deep
