program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    async_load(u, f, 0, 4, "t");
}
// expect: 5:5: error[V265] the copy "t" is never waited for
