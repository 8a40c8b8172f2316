// LU factors of a matrix with a heavy diagonal, in place, without pivots: two grid barriers per column.
program eliminate workgroup(16, 16) grid((n + 15) / 16, (n + 15) / 16) {
    param n : u32 = 64;
    in    x : f32[n * n];
    out   a : f32[n * n];

    let row = global_id.y;
    let column = global_id.x;
    let is_inside = row < n && column < n;
    if (is_inside) {
        a[row * n + column] = x[row * n + column] + select(row == column, f32(n), 0.0);
    }
    grid_sync;
    for (k in 0 .. n - 1) {
        if (is_inside && column == k && row > k) {
            a[row * n + k] = a[row * n + k] / a[k * n + k];
        }
        grid_sync;
        if (is_inside && column > k && row > k) {
            a[row * n + column] = a[row * n + column] - a[row * n + k] * a[k * n + column];
        }
        grid_sync;
    }
}
