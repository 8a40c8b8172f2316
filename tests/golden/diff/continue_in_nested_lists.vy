// A jump that some lanes take, below an `if` with a barrier, beside jumps that all take.
program c workgroup(3) grid(2) {
    out y : u32[6];
    out z : u32[6];
    param limit : u32 = 7;

    fn some_trips() {
        for (j in 0 .. 2) {
            if (global_id.x == j) {
                continue;
            }
            y[global_id.x] = y[global_id.x] + 7;
        }
    }

    let i = global_id.x;
    for (k in 0 .. limit) {
        if (k == 5) {
            break;
        }
        grid_sync;
        let before = z[5 - i];
        if (k % 2 == 1) {
            grid_sync;
            z[i] = z[i] + k;
            if (i == k) {
                y[i] = y[i] + 100;
                continue;
            }
            let more = y[i] + before;
            y[i] = more + 1;
            if (y[i] % 3 == 0) {
                continue;
            }
        } else {
            if (k == 4) {
                grid_sync;
                continue;
            }
        }
        y[i] = y[i] * 2 + k;
        some_trips();
    }
}
