program p workgroup(64) elements(64) {
    inout f : f32[64];
    scratch g : f32[64];
    private mine : f32[1];

    async_load(f, mine, 0, 4, "first");
    swap(f, g);
    async_wait("first");
    g[global_id.x] = mine[0];
}
// expect: 7:5: error[V283] the copy "first" of what is swapped is pending
// expect: 6:5: note the copy begins here
