// run: vyre run examples/reduce.vy --in x=random:100000:1
//
// Sum of floats in two phases: a partial sum per block, a grid barrier, then one workgroup adds the
// partial sums. Which elements a block adds, and in which order, depends on neither the grid nor the
// device, so the rounding is always the same.
program reduce workgroup(256) elements(16384) {
    in        x       : f32[];
    out       sum     : f32[1];
    scratch   partial : f32[blocks];
    workgroup tile    : f32[256];
    const     blocks  = 64;

    // The sum of v over the workgroup, for every lane of it.
    fn group_sum(v : f32) -> f32 {
        barrier; // the tile may still be read from the call before
        tile[local_id.x] = v;
        barrier;
        let half = 128;
        while (half != 0) {
            if (local_id.x < half) {
                tile[local_id.x] = tile[local_id.x] + tile[local_id.x + half];
            }
            barrier;
            half = half >> 1;
        }
        return tile[0];
    }

    for (block in group_id.x .. blocks step num_groups.x) {
        let mine = 0.0;
        for (i in block * 256 + local_id.x .. len(x) step blocks * 256) {
            mine = mine + x[i];
        }
        let all = group_sum(mine);
        if (local_id.x == 0) {
            partial[block] = all;
        }
    }
    grid_sync;
    if (group_id.x == 0) {
        let all = group_sum(partial[local_id.x]); // beyond the end a load gives 0
        if (local_id.x == 0) {
            sum[0] = all;
        }
    }
}
