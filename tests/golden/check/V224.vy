program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = 4294967296;
}
// expect: 5:12: error[V224] `4294967296` does not fit u32
