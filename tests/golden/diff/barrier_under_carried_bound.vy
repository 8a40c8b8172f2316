// A loop bound that is carried in grid data decides over a workgroup barrier.
program p workgroup(1) grid(1, 1) {
    for (i_21 in 0 .. 0 step 1) {
        for (i_23 in i_21 .. 0 step 1) {
            barrier;
        }
        grid_sync;
    }
}
