// The cheapest way down a wall of bricks, straight or by one to a side in each row: costs of the last row.
program pathfinder workgroup(256) elements(columns) {
    param   columns : u32 = 100;
    param   rows    : u32 = 5; // odd
    in      brick   : u8[columns * rows];
    out     cost    : u32[columns];
    scratch other   : u32[columns];

    let x = global_id.x;
    if (x < columns) {
        cost[x] = brick[x];
    }
    grid_sync;
    for (row in 1 .. rows step 2) {
        if (x < columns) {
            let best = cost[x];
            if (x > 0) {
                best = min(best, cost[x - 1]);
            }
            if (x + 1 < columns) {
                best = min(best, cost[x + 1]);
            }
            other[x] = best + brick[row * columns + x];
        }
        grid_sync;
        if (x < columns) {
            let best = other[x];
            if (x > 0) {
                best = min(best, other[x - 1]);
            }
            if (x + 1 < columns) {
                best = min(best, other[x + 1]);
            }
            cost[x] = best + brick[(row + 1) * columns + x];
        }
        grid_sync;
    }
}
