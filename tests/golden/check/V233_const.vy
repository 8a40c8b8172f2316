program p workgroup(64) elements(64) {
    inout u : u32[4];
    const N : u32 = len(u);

    u[0] = N;
}
// expect: 3:21: error[V233] a const is made of literals and other consts
