// Exclusive prefix sums (modulo 2^32) of any length: sums of tiles, a scan of these by the first
// workgroup, then each tile from its base. Reads twice, writes once; two grid barriers.
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
            let left = local_id.x >= reach ? line[local_id.x - reach] : 0;
            barrier;
            line[local_id.x] = line[local_id.x] + left;
            barrier;
            reach = reach << 1;
        }
        return line[local_id.x];
    }

    let tiles = len(x) / per_tile + u32(len(x) % per_tile != 0);

    for (tile in group_id.x .. tiles step num_groups.x) {
        let mine = 0;
        for (k in 0 .. per_lane) {
            mine = mine + x[tile * per_tile + k * 256 + local_id.x]; // beyond the end a load gives 0
        }
        barrier;
        line[local_id.x] = mine;
        barrier;
        let half = 128;
        while (half != 0) {
            if (local_id.x < half) {
                line[local_id.x] = line[local_id.x] + line[local_id.x + half];
            }
            barrier;
            half = half >> 1;
        }
        if (local_id.x == 0) {
            sums[tile] = line[0];
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

    for (tile in group_id.x .. tiles step num_groups.x) {
        let first = tile * per_tile + local_id.x * per_lane;
        let mine = 0;
        for (k in 0 .. per_lane) {
            mine = mine + x[first + k];
        }
        let before = sums[tile] + group_scan(mine) - mine;
        for (k in 0 .. per_lane) {
            y[first + k] = before; // beyond the end a store does nothing
            before = before + x[first + k];
        }
    }
}
