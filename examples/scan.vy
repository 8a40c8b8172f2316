// run: vyre run examples/scan.vy --in x=random:100000:1
//
// Inclusive prefix sums (modulo 2^32) of any length, work-efficient: each lane adds 8 neighbours by
// itself, a workgroup scans the sums of its lanes, the first workgroup scans the sums of the tiles.
// Two grid barriers, whatever the length.
program scan workgroup(256) elements(16384) {
    in        x        : u32[];
    out       y        : u32[len(x)];
    scratch   sums     : u32[len(x) / 2048 + 1];
    workgroup line     : u32[256];
    const     per_lane = 8;
    const     per_tile = 2048;

    // Inclusive scan of v over the workgroup; line[255] is the total until the next call.
    fn group_scan(v : u32) -> u32 {
        barrier; // line may still be read from the call before
        line[local_id.x] = v;
        barrier;
        let reach = 1;
        while (reach < 256) {
            let left = select(local_id.x >= reach, line[local_id.x - reach], 0);
            barrier;
            line[local_id.x] = line[local_id.x] + left;
            barrier;
            reach = reach << 1;
        }
        return line[local_id.x];
    }

    let tiles = len(x) / per_tile + u32(len(x) % per_tile != 0);

    // Within each tile.
    for (tile in group_id.x .. tiles step num_groups.x) {
        let first = tile * per_tile + local_id.x * per_lane;
        let mine = 0;
        for (k in 0 .. per_lane) {
            mine = mine + x[first + k]; // beyond the end a load gives 0
        }
        let before = group_scan(mine) - mine;
        for (k in 0 .. per_lane) {
            before = before + x[first + k];
            y[first + k] = before; // beyond the end a store does nothing
        }
        if (local_id.x == 0) {
            sums[tile] = line[255];
        }
    }
    grid_sync;

    // The sums of the tiles, exclusive, in place.
    if (group_id.x == 0) {
        let carry = 0;
        for (first in 0 .. tiles step 256) {
            let mine = sums[first + local_id.x];
            let through = group_scan(mine);
            sums[first + local_id.x] = carry + through - mine;
            carry = carry + line[255];
        }
    }
    grid_sync;

    for (i in global_id.x .. len(x) step global_size.x) {
        y[i] = y[i] + sums[i / per_tile];
    }
}
