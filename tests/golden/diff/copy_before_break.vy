// A jump out of a loop that holds a barrier stands between a copy and its wait.
program p workgroup(1) grid(1, 1) {
    inout inout_0 : u32[1];
    private private_5 : f64[1];

    for (i_15 in 0 .. 1 step 1) {
        async_store(private_5, inout_0, 0, 1, "copy18");
        break;
        async_wait("copy18");
        grid_sync;
    }
}
