program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = 1 @ 2;
}
// expect: 5:14: error[V201] `@` is not part of the language
