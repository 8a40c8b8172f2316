program p workgroup(64) elements(64) {
    inout u : u32[4];
    const A0 : u32 = 1;
    const A1 : u32 = A0 + A0;
    const A2 : u32 = A1 + A1;
    const A3 : u32 = A2 + A2;
    const A4 : u32 = A3 + A3;
    const A5 : u32 = A4 + A4;
    const A6 : u32 = A5 + A5;
    const A7 : u32 = A6 + A6;
    const A8 : u32 = A7 + A7;
    const A9 : u32 = A8 + A8;
    const A10 : u32 = A9 + A9;
    const A11 : u32 = A10 + A10;
    const A12 : u32 = A11 + A11;
    const A13 : u32 = A12 + A12;

    u[0] = A13;
}
// expect: 14:5: error[V247] const `A11` expands to more than 4096 expressions
