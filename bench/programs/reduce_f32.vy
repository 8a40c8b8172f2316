// The sum of all elements: each lane strides over them, a tree in workgroup memory, a grid barrier,
// and the first workgroup adds what the workgroups found. The grid is fixed, so the order is.
program reduce_f32 workgroup(256) elements(16384) {
    in        x       : f32[];
    out       sum     : f32[1];
    scratch   partial : f32[num];
    workgroup tile    : f32[256];
    const     num     = 64;

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

    let mine = 0.0;
    for (i in global_id.x .. len(x) step global_size.x) {
        mine = mine + x[i];
    }
    let all = group_sum(mine);
    if (local_id.x == 0) {
        partial[group_id.x] = all;
    }
    grid_sync;
    if (group_id.x == 0) {
        let total = group_sum(partial[local_id.x]); // beyond the end a load gives 0
        if (local_id.x == 0) {
            sum[0] = total;
        }
    }
}
