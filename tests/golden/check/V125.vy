program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    for (i in 0 .. f[0]) {
        u[i] = 1;
    }
}
// expect: 5:20: error[V125] the bound of a loop is f32, not u32
