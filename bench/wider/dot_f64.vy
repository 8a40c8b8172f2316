// A dot product in f64: strided sums, a tree per workgroup, and the first workgroup adds up.
program dot_f64 workgroup(128) grid(128) {
    in        a    : f64[];
    in        b    : f64[len(a)];
    out       dot  : f64[1];
    scratch   part : f64[128];
    workgroup tile : f64[128];

    fn group_sum(v : f64) -> f64 {
        barrier;
        tile[local_id.x] = v;
        barrier;
        let half = 64;
        while (half != 0) {
            if (local_id.x < half) {
                tile[local_id.x] = tile[local_id.x] + tile[local_id.x + half];
            }
            barrier;
            half = half / 2;
        }
        return tile[0];
    }

    let mine = 0.0d;
    for (i in global_id.x .. len(a) step global_size.x) {
        mine = fma(a[i], b[i], mine);
    }
    let all = group_sum(mine);
    if (local_id.x == 0) {
        part[group_id.x] = all;
    }
    grid_sync;
    if (group_id.x == 0) {
        let sum = group_sum(part[local_id.x]);
        if (local_id.x == 0) {
            dot[0] = sum;
        }
    }
}
