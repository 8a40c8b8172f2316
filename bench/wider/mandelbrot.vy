// How long each point of the plane stays near zero: neighbours take different numbers of trips.
program mandelbrot workgroup(16, 16) grid((width + 15) / 16, (height + 15) / 16) {
    param width  : u32 = 64;
    param height : u32 = 64;
    param limit  : u32 = 256;
    out   count  : u32[width * height];

    let x = global_id.x;
    let y = global_id.y;
    if (x >= width || y >= height) {
        exit;
    }
    let cx = fma(f32(x), 3.0 / f32(width), -2.0);
    let cy = fma(f32(y), 2.0 / f32(height), -1.0);
    let zx = 0.0;
    let zy = 0.0;
    let k = 0;
    while (k < limit && fma(zx, zx, zy * zy) <= 4.0) {
        let next = fma(zx, zx, fma(-zy, zy, cx));
        zy = fma(zx + zx, zy, cy);
        zx = next;
        k = k + 1;
    }
    count[y * width + x] = k;
}
