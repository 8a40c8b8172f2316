program p workgroup(64) elements(64) {
    in n : u32[4];
    inout f : f32[64];
    inout u : u32[64];

    let x = u[0] + f[0];
    let y = x * 2;
    u[1i] = 1;
    if (f[0]) {
        n[0] = 1;
    }
    exit;
    u[0] = 1;
}
// expect: 6:13: error[V088] `+` mixes u32 and f32
// expect: 8:7: error[V122] the index is i32, not u32
// expect: 9:9: error[V123] a condition is bool or u32, not f32
// expect: 10:9: error[V063] `n` is read only
// expect: 13:5: warning[V256] no lane comes to this statement
