program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    async_wait("t);
}
// expect: 5:16: error[V204] this string has no end
// expect: 6:1: error[V207] `}` does not close the `(` of line 5
