// Some groups go on to the next trip; the others wait for their own lanes, and for all at its head.
program c workgroup(4) grid(3) {
    out y : u32[12];
    workgroup t : u32[4];

    for (k in 0 .. 4) {
        grid_sync;
        let old = y[(global_id.x + 5) % 12];
        grid_sync;
        if (group_id.x == k) {
            continue;
        }
        t[local_id.x] = old + k;
        barrier;
        y[global_id.x] = t[3 - local_id.x];
        barrier;
    }
}
