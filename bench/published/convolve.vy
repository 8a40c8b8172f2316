// A separable filter of 17 weights over an image, rows first; beyond the borders lie the border's values.
program convolve workgroup(16, 16) grid((width + 15) / 16, (height + 15) / 16) {
    param   width   : u32 = 64;
    param   height  : u32 = 64;
    in      image   : f32[width * height];
    in      weight  : f32[17];
    out     blurred : f32[width * height];
    scratch rows    : f32[width * height];

    let x = global_id.x;
    let y = global_id.y;
    if (x < width && y < height) {
        let sum = 0.0;
        for (k in 0 .. 17) {
            sum = fma(weight[k], image[y * width + min(max(x + k, 8) - 8, width - 1)], sum);
        }
        rows[y * width + x] = sum;
    }
    grid_sync;
    if (x < width && y < height) {
        let sum = 0.0;
        for (k in 0 .. 17) {
            sum = fma(weight[k], rows[min(max(y + k, 8) - 8, height - 1) * width + x], sum);
        }
        blurred[y * width + x] = sum;
    }
}
