// run: vyre run examples/jacobi.vy --set width=32 --set height=24
//
// Steady heat in a plate whose upper edge is hot: sweeps of the five-point stencil until no point
// moves by more than the tolerance. The largest move is an integer maximum of float bits (moves are
// not negative, so their bits order like their values), which does not depend on the order of lanes.
program jacobi workgroup(16, 16) grid((width + 15) / 16, (height + 15) / 16) {
    param   width     : u32 = 64;
    param   height    : u32 = 64;
    param   tolerance : f32 = 0.001;
    param   sweeps    : u32 = 10000; // at most
    out     plate     : f32[width * height];
    out     swept     : u32;
    scratch next      : f32[width * height];
    scratch moved     : u32[2]; // of this sweep and the other one

    // Grid-stride in two dimensions. The edge never changes.
    for (y in global_id.y .. height step global_size.y) {
        for (x in global_id.x .. width step global_size.x) {
            let heat = select(y == 0, 1.0, 0.0);
            plate[y * width + x] = heat;
            next[y * width + x] = heat;
        }
    }
    grid_sync;

    let sweep = 0;
    let worst = tolerance + 1.0;
    while (worst > tolerance && sweep < sweeps) {
        let slot = sweep & 1;
        for (y in global_id.y + 1 .. height - 1 step global_size.y) {
            for (x in global_id.x + 1 .. width - 1 step global_size.x) {
                let i = y * width + x;
                let sides = plate[i - 1] + plate[i + 1];
                let ends = plate[i - width] + plate[i + width];
                let mean = 0.25 * (sides + ends);
                next[i] = mean;
                atomic_max(moved[slot], bitcast<u32>(abs(mean - plate[i])), relaxed);
            }
        }
        swap(plate, next); // all wait for all, and no bytes move
        worst = bitcast<f32>(moved[slot]);
        sweep += 1;
        grid_sync;
        if (global_id.x == 0 && global_id.y == 0) {
            moved[slot] = 0; // this slot is used again two sweeps later
        }
    }
    if (global_id.x == 0 && global_id.y == 0) {
        swept = sweep;
    }
}
