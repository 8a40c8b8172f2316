// The inverses of many matrices of 16 x 16 in f64, by Gauss and Jordan in workgroup memory.
program inverse workgroup(16, 16) grid(len(a) / 256) {
    in        a    : f64[];
    out       b    : f64[len(a)];
    workgroup tile : f64[256];

    let x = local_id.x;
    let y = local_id.y;
    let at = y * 16 + x;
    tile[at] = a[group_id.x * 256 + at];
    barrier;
    for (k in 0 .. 16) {
        let pivot = 1.0d / tile[k * 17];
        let row = tile[k * 16 + x] * pivot;
        let column = tile[y * 16 + k];
        let here = tile[at];
        barrier;
        if (y == k) {
            tile[at] = select(x == k, pivot, row);
        } else if (x == k) {
            tile[at] = -column * pivot;
        } else {
            tile[at] = fma(-column, row, here);
        }
        barrier;
    }
    b[group_id.x * 256 + at] = tile[at];
}
