// Of each trip some lanes go on to the next: nobody may decide that for all.
program c workgroup(2) grid(2) {
    out y : u32[4];

    for (k in 0 .. 2) {
        grid_sync;
        if (global_id.x >= k) {
            continue;
        }
        y[global_id.x] = y[3 - global_id.x] + 1;
    }
}
