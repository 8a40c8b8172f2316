// Sweeps of the five-point stencil, one lane per point, the edge fixed. Two buffers take turns, two
// sweeps per trip; `sweeps` is rounded up to an even number.
program jacobi workgroup(32, 8) grid((width + 31) / 32, (height + 7) / 8) {
    param   width  : u32 = 64;
    param   height : u32 = 64;
    param   sweeps : u32 = 100;
    in      start  : f32[width * height];
    out     plate  : f32[width * height];
    scratch other  : f32[width * height];

    let x = global_id.x;
    let y = global_id.y;
    let i = y * width + x;
    if (x < width && y < height) {
        plate[i] = start[i];
        other[i] = start[i];
    }
    grid_sync;
    for (pair in 0 .. (sweeps + 1) / 2) {
        if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
            other[i] = 0.25 * (plate[i - 1] + plate[i + 1] + plate[i - width] + plate[i + width]);
        }
        grid_sync;
        if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
            plate[i] = 0.25 * (other[i - 1] + other[i + 1] + other[i - width] + other[i + width]);
        }
        grid_sync;
    }
}
