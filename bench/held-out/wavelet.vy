// A picture as wavelets (5/3, integers, as JPEG 2000 has them): in each level rows, then columns of what is
// left, smooth numbers before details.
program wavelet workgroup(64, 4) grid((width / 2 + 63) / 64, (height + 3) / 4) {
    param   width  : u32 = 48; // both can be halved `levels` times
    param   height : u32 = 24;
    param   levels : u32 = 3;
    in      image  : u8[width * height];
    out     plane  : i32[width * height];
    scratch half   : i32[width * height];

    // The detail between two neighbours.
    fn detail(a : i32, b : i32, c : i32) -> i32 {
        return b - ((a + c) >> 1);
    }

    let x = global_id.x;
    let y = global_id.y;
    if (x < width / 2 && y < height) {
        plane[y * width + x] = i32(image[y * width + x]) - 128;
        plane[y * width + x + width / 2] = i32(image[y * width + x + width / 2]) - 128;
    }
    grid_sync;
    let w = width;
    let h = height;
    for (l in 0 .. levels) {
        let pairs = w / 2;
        if (x < pairs && y < h) {
            let row = y * width;
            let here = plane[row + 2 * x];
            let next = plane[row + (x + 1 < pairs ? 2 * x + 2 : 2 * x)];
            let right = detail(here, plane[row + 2 * x + 1], next);
            let left = right;
            if (x > 0) {
                left = detail(plane[row + 2 * x - 2], plane[row + 2 * x - 1], here);
            }
            half[row + x] = here + ((left + right + 2) >> 2);
            half[row + pairs + x] = right;
        }
        grid_sync;
        let lines = h / 2;
        if (x < pairs && y < lines) {
            for (c in x .. w step pairs) {
                let here = half[2 * y * width + c];
                let next = half[(y + 1 < lines ? 2 * y + 2 : 2 * y) * width + c];
                let below = detail(here, half[(2 * y + 1) * width + c], next);
                let above = below;
                if (y > 0) {
                    above = detail(half[(2 * y - 2) * width + c], half[(2 * y - 1) * width + c], here);
                }
                plane[y * width + c] = here + ((above + below + 2) >> 2);
                plane[(lines + y) * width + c] = below;
            }
        }
        grid_sync;
        w = pairs;
        h = lines;
    }
}
