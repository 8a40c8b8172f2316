// Bitonic sort in workgroup memory, then the groups are merged over the grid.
program p workgroup(32) grid(2) {
    inout     a : u32[64];
    workgroup t : u32[32];

    let l = local_id.x;
    t[l] = a[global_id.x];
    for (let k = 2; k <= 32; k <<= 1) {
        for (let j = k >> 1; j > 0; j >>= 1) {
            barrier;
            let o = l ^ j;
            let x = t[l];
            let y = t[o];
            barrier;
            let up = (l & k) == 0 && group_id.x == 0 || (l & k) != 0 && group_id.x == 1;
            t[l] = (l < o) == up ? min(x, y) : max(x, y);
        }
    }
    barrier;
    a[global_id.x] = t[l];
    for (let j = 32; j > 0; j >>= 1) {
        grid_sync;
        let o = global_id.x ^ j;
        let x = a[global_id.x];
        let y = a[o];
        grid_sync;
        a[global_id.x] = global_id.x < o ? min(x, y) : max(x, y);
    }
}
