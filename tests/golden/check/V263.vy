program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    async_load(u, f, 0, 4, "t");
    async_wait("t");
    async_load(u, f, 0, 4, "t");
    async_wait("t");
}
// expect: 7:5: error[V263] the tag "t" is used twice
// expect: 5:5: note it begins here first
