program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = u[0] | 1i;
}
// expect: 5:12: error[V092] `|` mixes u32 and i32
