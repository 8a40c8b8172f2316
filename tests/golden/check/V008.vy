program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    let x = 1;
    if (x == 1) {
        let x = 2;
        u[0] = x;
    }
}
// expect: 7:13: error[V008] `x` is already declared in line 5 and visible here; names are not shadowed
