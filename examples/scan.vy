// run: vyre run examples/scan.vy --in x=random:100000:1
//
// Inclusive prefix sums (modulo 2^32) of any length, work-efficient: each lane adds 8 neighbours by
// itself, a workgroup scans the sums of its lanes, the first workgroup scans the sums of the tiles.
// Two grid barriers, whatever the length.
program scan workgroup(256) elements(16384) {
    in      x        : u32[];
    out     y        : u32[len(x)];
    scratch sums     : u32[len(x) / 2048 + 1];
    const   per_lane = 8;
    const   per_tile = 2048;

    let tiles = len(x) / per_tile + u32(len(x) % per_tile != 0);

    // Within each tile.
    for (tile in group_id.x .. tiles step num_groups.x) {
        let first = tile * per_tile + local_id.x * per_lane;
        let mine = 0;
        for (k in 0 .. per_lane) {
            mine += x[first + k]; // beyond the end a load gives 0
        }
        let before = group_scan_add(mine);
        for (k in 0 .. per_lane) {
            before += x[first + k];
            y[first + k] = before; // beyond the end a store does nothing
        }
        if (local_id.x == 255) {
            sums[tile] = before;
        }
    }
    grid_sync;

    // The sums of the tiles, exclusive, in place.
    if (group_id.x == 0) {
        let carry = 0;
        for (first in 0 .. tiles step 256) {
            let mine = sums[first + local_id.x];
            sums[first + local_id.x] = carry + group_scan_add(mine);
            carry += group_add(mine);
        }
    }
    grid_sync;

    for (i in global_id.x .. len(x) step global_size.x) {
        y[i] += sums[i / per_tile];
    }
}
