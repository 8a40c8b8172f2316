// Both sides of a branch of the schedule go to the step behind it: emitted C jumped to a label that
// it did not have.
program p workgroup(2) grid(3, 1, 1) {
    inout sums : u32[6];
    out shifted : u32[6];

    let lane = global_id.x;
    for (i in 0 .. 2) {
        sums[lane] = sums[lane] + i;
        grid_sync;
        shifted[lane] = sums[(lane + 1) % 6];
        grid_sync;
        if (10 < 12) {
            continue;
        }
    }
}
