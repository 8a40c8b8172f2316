// The middle one of the 3 x 3 bytes around each pixel; the border stays as it is.
program median workgroup(32, 8) grid((width + 31) / 32, (height + 7) / 8) {
    param width  : u32 = 64;
    param height : u32 = 64;
    in    image  : u8[width * height];
    out   calm   : u8[width * height];

    // The middle one of three.
    fn middle(a : u32, b : u32, c : u32) -> u32 {
        return max(min(a, b), min(max(a, b), c));
    }

    let x = global_id.x;
    let y = global_id.y;
    if (x >= width || y >= height) {
        exit;
    }
    let at = y * width + x;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        calm[at] = image[at];
        exit;
    }
    let a = image[at - width - 1];
    let b = image[at - width];
    let c = image[at - width + 1];
    let d = image[at - 1];
    let e = image[at];
    let f = image[at + 1];
    let g = image[at + width - 1];
    let h = image[at + width];
    let i = image[at + width + 1];
    // The highest of the lowest, the middle of the middles, the lowest of the highest of the rows.
    let low = max(max(min(min(a, b), c), min(min(d, e), f)), min(min(g, h), i));
    let high = min(min(max(max(a, b), c), max(max(d, e), f)), max(max(g, h), i));
    calm[at] = middle(low, middle(middle(a, b, c), middle(d, e, f), middle(g, h, i)), high);
}
