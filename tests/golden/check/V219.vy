program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = 1 + ;
}
// expect: 5:16: error[V219] expected an expression, found `;`
