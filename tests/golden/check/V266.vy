program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    async_load(u, f, 0i, 4, "t");
    async_wait("t");
}
// expect: 5:22: error[V266] the byte offset is i32, not u32
