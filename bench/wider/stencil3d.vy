// Seven-point stencil in a box, one lane per point.
program stencil3d workgroup(32, 4, 2) grid((n + 31) / 32, (n + 3) / 4, (n + 1) / 2) {
    param   n     : u32 = 32;
    param   steps : u32 = 2; // even
    in      start : f32[n * n * n];
    out     a     : f32[n * n * n];
    scratch b     : f32[n * n * n];

    let x = global_id.x;
    let y = global_id.y;
    let z = global_id.z;
    let i = (z * n + y) * n + x;
    let is_point = x < n && y < n && z < n;
    let is_inner = x > 0 && x < n - 1 && y > 0 && y < n - 1 && z > 0 && z < n - 1;
    if (is_point) {
        a[i] = start[i];
        b[i] = start[i];
    }
    grid_sync;
    for (pair in 0 .. steps / 2) {
        if (is_inner) {
            let sides = a[i - 1] + a[i + 1] + a[i - n] + a[i + n] + a[i - n * n] + a[i + n * n];
            b[i] = 0.4 * a[i] + 0.1 * sides;
        }
        grid_sync;
        if (is_inner) {
            let sides = b[i - 1] + b[i + 1] + b[i - n] + b[i + n] + b[i - n * n] + b[i + n * n];
            a[i] = 0.4 * b[i] + 0.1 * sides;
        }
        grid_sync;
    }
}
