// All 27 points around each point of a box, in f64, each with a weight of its own.
program stencil27 workgroup(64, 2, 2) grid((n + 63) / 64, (n + 1) / 2, (n + 1) / 2) {
    param   n      : u32 = 16;
    param   steps  : u32 = 2; // even
    in      start  : f64[n * n * n];
    in      weight : f64[27];
    out     a      : f64[n * n * n];
    scratch b      : f64[n * n * n];

    let x = global_id.x;
    let y = global_id.y;
    let z = global_id.z;
    let at = (z * n + y) * n + x;
    let is_point = x < n && y < n && z < n;
    let is_inner = is_point && x > 0 && y > 0 && z > 0 && x < n - 1 && y < n - 1 && z < n - 1;
    let corner = at - n * n - n - 1;
    if (is_point) {
        a[at] = start[at];
        b[at] = start[at];
    }
    grid_sync;
    for (pair in 0 .. steps / 2) {
        if (is_inner) {
            let sum = 0.0d;
            for (dz in 0 .. 3) {
                for (dy in 0 .. 3) {
                    for (dx in 0 .. 3) {
                        sum = fma(weight[(dz * 3 + dy) * 3 + dx], a[corner + (dz * n + dy) * n + dx], sum);
                    }
                }
            }
            b[at] = sum;
        }
        grid_sync;
        if (is_inner) {
            let sum = 0.0d;
            for (dz in 0 .. 3) {
                for (dy in 0 .. 3) {
                    for (dx in 0 .. 3) {
                        sum = fma(weight[(dz * 3 + dy) * 3 + dx], b[corner + (dz * n + dy) * n + dx], sum);
                    }
                }
            }
            a[at] = sum;
        }
        grid_sync;
    }
}
