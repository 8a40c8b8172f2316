program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    async_load(u, f, 0, 4, "t");
    if (u[0] == 0) {
        async_wait("t");
    }
}
// expect: 7:9: error[V264] there is no copy "t" to wait for
// expect: 5:5: note the copy begins here
