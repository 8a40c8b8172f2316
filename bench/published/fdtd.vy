// An electromagnetic wave in the plane: two electric fields from the magnetic one, then back.
program fdtd workgroup(32, 4) grid((width + 31) / 32, (height + 3) / 4) {
    param width  : u32 = 64;
    param height : u32 = 64;
    param steps  : u32 = 2;
    in    start  : f32[width * height];
    out   hz     : f32[width * height];
    out   ex     : f32[width * height];
    out   ey     : f32[width * height];

    let x = global_id.x;
    let y = global_id.y;
    let at = y * width + x;
    if (x < width && y < height) {
        hz[at] = start[at];
    }
    grid_sync;
    for (t in 0 .. steps) {
        if (x < width && y < height) {
            if (y == 0) {
                ey[at] = f32(t);
            } else {
                ey[at] = ey[at] - 0.5 * (hz[at] - hz[at - width]);
            }
            if (x > 0) {
                ex[at] = ex[at] - 0.5 * (hz[at] - hz[at - 1]);
            }
        }
        grid_sync;
        if (x + 1 < width && y + 1 < height) {
            hz[at] = hz[at] - 0.7 * (ex[at + 1] - ex[at] + ey[at + width] - ey[at]);
        }
        grid_sync;
    }
}
