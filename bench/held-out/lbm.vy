// A fluid by the lattice Boltzmann method, nine directions, on a torus with obstacles: each cell pulls what
// comes to it, turns it back if it is solid, and lets it collide if not.
program lbm workgroup(128) grid((width + 127) / 128, height) {
    param   width  : u32 = 32;
    param   height : u32 = 32;
    param   steps  : u32 = 2;
    in      start  : f32[width * height];
    in      solid  : u8[width * height]; // those below 16 are
    out     rho    : f32[width * height];
    out     ux     : f32[width * height];
    out     uy     : f32[width * height];
    scratch f      : f32[18 * width * height]; // nine planes of the one state, nine of the other

    // What a direction with this share and this part of the speed has at rest.
    fn rest(share : f32, c : f32, square : f32) -> f32 {
        return share * (1.0 + 3.0 * c + 4.5 * c * c - 1.5 * square);
    }

    let x = global_id.x;
    let y = global_id.y;
    if (x >= width) {
        exit;
    }
    let n = width * height;
    let at = y * width + x;
    let is_solid = solid[at] < 16;
    let w = select(x > 0, x - 1, width - 1);
    let e = select(x + 1 < width, x + 1, 0);
    let here = y * width;
    let up = select(y > 0, y - 1, height - 1) * width;
    let down = select(y + 1 < height, y + 1, 0) * width;
    {
        let d = 1.0 + 0.1 * start[at];
        f[at] = 4.0 / 9.0 * d;
        for (k in 1 .. 5) {
            f[k * n + at] = 1.0 / 9.0 * d;
            f[(k + 4) * n + at] = 1.0 / 36.0 * d;
        }
    }
    grid_sync;
    for (t in 0 .. steps) {
        let from = (t & 1) * 9 * n;
        let to = 9 * n - from;
        let f0 = f[from + at];
        let f1 = f[from + n + here + w];
        let f2 = f[from + 2 * n + up + x];
        let f3 = f[from + 3 * n + here + e];
        let f4 = f[from + 4 * n + down + x];
        let f5 = f[from + 5 * n + up + w];
        let f6 = f[from + 6 * n + up + e];
        let f7 = f[from + 7 * n + down + e];
        let f8 = f[from + 8 * n + down + w];
        if (is_solid) {
            f[to + at] = f0;
            f[to + n + at] = f3;
            f[to + 2 * n + at] = f4;
            f[to + 3 * n + at] = f1;
            f[to + 4 * n + at] = f2;
            f[to + 5 * n + at] = f7;
            f[to + 6 * n + at] = f8;
            f[to + 7 * n + at] = f5;
            f[to + 8 * n + at] = f6;
        } else {
            let d = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
            let u = (f1 - f3 + f5 - f6 - f7 + f8) / d + 0.001;
            let v = (f2 - f4 + f5 + f6 - f7 - f8) / d;
            let square = u * u + v * v;
            let large = d * (1.0 / 9.0);
            let small = d * (1.0 / 36.0);
            f[to + at] = f0 + 0.8 * (rest(d * (4.0 / 9.0), 0.0, square) - f0);
            f[to + n + at] = f1 + 0.8 * (rest(large, u, square) - f1);
            f[to + 2 * n + at] = f2 + 0.8 * (rest(large, v, square) - f2);
            f[to + 3 * n + at] = f3 + 0.8 * (rest(large, -u, square) - f3);
            f[to + 4 * n + at] = f4 + 0.8 * (rest(large, -v, square) - f4);
            f[to + 5 * n + at] = f5 + 0.8 * (rest(small, u + v, square) - f5);
            f[to + 6 * n + at] = f6 + 0.8 * (rest(small, v - u, square) - f6);
            f[to + 7 * n + at] = f7 + 0.8 * (rest(small, -u - v, square) - f7);
            f[to + 8 * n + at] = f8 + 0.8 * (rest(small, u - v, square) - f8);
        }
        grid_sync;
    }
    let last = (steps & 1) * 9 * n + at;
    let d = 0.0;
    for (k in 0 .. 9) {
        d = d + f[last + k * n];
    }
    rho[at] = d;
    ux[at] = (f[last + n] - f[last + 3 * n] + f[last + 5 * n] - f[last + 6 * n] - f[last + 7 * n] + f[last + 8 * n]) / d;
    uy[at] = (f[last + 2 * n] - f[last + 4 * n] + f[last + 5 * n] + f[last + 6 * n] - f[last + 7 * n] - f[last + 8 * n]) / d;
}
