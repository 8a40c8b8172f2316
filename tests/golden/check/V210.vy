program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = 1
    u[1] = 2;
}
// expect: 5:12: error[V210] expected `;` behind the value, found `u`
