program p workgroup(64) elements(64) {
    inout u : u32[4];
    private a : u32[0];

    u[0] = 1;
}
// expect: 3:21: error[V109] private `a` is empty
