// What a lane sets before it goes on to the next trip is not seen by the rest of this one.
program c workgroup(4) grid(3) {
    out y : u32[12];
    workgroup t : u32[4];

    let x = 7;
    for (k in 0 .. 5) {
        grid_sync;
        y[global_id.x] = y[global_id.x] * 10 + x;
        x = 0;
        if (k < 4) {
            if (group_id.x == k) {
                x = local_id.x + 1;
                continue;
            }
            t[local_id.x] = k;
        }
        if (x == 0) {
            barrier;
            y[global_id.x] = y[global_id.x] + t[3 - local_id.x];
            barrier;
        }
    }
}
