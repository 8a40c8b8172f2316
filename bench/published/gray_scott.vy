// Two substances that react and spread on a torus.
program gray_scott workgroup(64, 2) grid((width + 63) / 64, (height + 1) / 2) {
    param   width  : u32 = 64;
    param   height : u32 = 64;
    param   steps  : u32 = 2; // even
    in      start  : f32[2 * width * height];
    out     a      : f32[2 * width * height]; // first all of the one, then all of the other
    scratch b      : f32[2 * width * height];

    let x = global_id.x;
    let y = global_id.y;
    let far = width * height;
    let is_inside = x < width && y < height;
    let at = y * width + x;
    let left = y * width + (x + width - 1) % width;
    let right = y * width + (x + 1) % width;
    let up = (y + height - 1) % height * width + x;
    let down = (y + 1) % height * width + x;
    if (is_inside) {
        a[at] = start[at];
        a[far + at] = start[far + at];
    }
    grid_sync;
    for (pair in 0 .. steps / 2) {
        if (is_inside) {
            let u = a[at];
            let v = a[far + at];
            let reacts = u * v * v;
            let spread_u = a[left] + a[right] + a[up] + a[down] - 4.0 * u;
            let spread_v = a[far + left] + a[far + right] + a[far + up] + a[far + down] - 4.0 * v;
            b[at] = u + (0.16 * spread_u - reacts + 0.035 * (1.0 - u));
            b[far + at] = v + (0.08 * spread_v + reacts - 0.1 * v);
        }
        grid_sync;
        if (is_inside) {
            let u = b[at];
            let v = b[far + at];
            let reacts = u * v * v;
            let spread_u = b[left] + b[right] + b[up] + b[down] - 4.0 * u;
            let spread_v = b[far + left] + b[far + right] + b[far + up] + b[far + down] - 4.0 * v;
            a[at] = u + (0.16 * spread_u - reacts + 0.035 * (1.0 - u));
            a[far + at] = v + (0.08 * spread_v + reacts - 0.1 * v);
        }
        grid_sync;
    }
}
