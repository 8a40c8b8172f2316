// Shortest ways between all pairs. Row and column k do not change in step k, so nothing races.
program floyd workgroup(32, 8) grid((n + 31) / 32, (n + 7) / 8) {
    param n      : u32 = 40;
    in    length : u32[n * n];
    out   least  : u32[n * n];

    let i = global_id.y;
    let j = global_id.x;
    let is_inside = i < n && j < n;
    if (is_inside) {
        least[i * n + j] = select(i == j, 0, length[i * n + j] >> 8);
    }
    grid_sync;
    for (k in 0 .. n) {
        if (is_inside) {
            let through = least[i * n + k] + least[k * n + j];
            if (through < least[i * n + j]) {
                least[i * n + j] = through;
            }
        }
        grid_sync;
    }
}
