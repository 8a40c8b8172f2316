program p workgroup(64) elements(64) {
    inout u : u32[4];
    const A : u32 = B;
    const B : u32 = A + 1;

    u[0] = A;
}
// expect: 4:21: error[V232] the value of `A` depends on itself
