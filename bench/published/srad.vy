// Speckle reducing diffusion: how even the whole image is decides how much each pixel gives to its
// neighbours. Sums by trees, two stencils in each step.
program srad workgroup(16, 16) grid((width + 15) / 16, (height + 15) / 16) {
    param     width  : u32 = 40;
    param     height : u32 = 40;
    param     steps  : u32 = 2;
    in        image  : f32[width * height];
    out       calm   : f32[width * height];
    scratch   j      : f32[width * height];
    scratch   c      : f32[width * height];
    scratch   part   : f32[2 * ((width + 15) / 16) * ((height + 15) / 16)];
    scratch   total  : f32[2];
    workgroup once   : f32[256];
    workgroup square : f32[256];

    // once[0] and square[0] become the sums over the workgroup.
    fn add_up(a : f32, b : f32, lane : u32) {
        once[lane] = a;
        square[lane] = b;
        barrier;
        let half = 128;
        while (half > 0) {
            if (lane < half) {
                once[lane] = once[lane] + once[lane + half];
                square[lane] = square[lane] + square[lane + half];
            }
            barrier;
            half = half / 2;
        }
    }

    let x = global_id.x;
    let y = global_id.y;
    let lane = local_id.y * 16 + local_id.x;
    let group = group_id.y * num_groups.x + group_id.x;
    let groups = num_groups.x * num_groups.y;
    let is_inside = x < width && y < height;
    let at = y * width + x;
    let north = select(y > 0, at - width, at);
    let south = select(y + 1 < height, at + width, at);
    let west = select(x > 0, at - 1, at);
    let east = select(x + 1 < width, at + 1, at);
    if (is_inside) {
        j[at] = exp(image[at]);
    }
    for (step_ in 0 .. steps) {
        let mine = is_inside ? j[at] : 0.0;
        add_up(mine, mine * mine, lane);
        if (lane == 0) {
            part[2 * group] = once[0];
            part[2 * group + 1] = square[0];
        }
        grid_sync;
        if (group == 0) {
            let a = 0.0;
            let b = 0.0;
            for (g in lane .. groups step 256) {
                a = a + part[2 * g];
                b = b + part[2 * g + 1];
            }
            add_up(a, b, lane);
            if (lane == 0) {
                total[0] = once[0];
                total[1] = square[0];
            }
        }
        grid_sync;
        let pixels = f32(width * height);
        let mean = total[0] / pixels;
        let q0 = (total[1] / pixels - mean * mean) / (mean * mean);
        if (is_inside) {
            let here = j[at];
            let n = j[north] - here;
            let s = j[south] - here;
            let w = j[west] - here;
            let e = j[east] - here;
            let g = (n * n + s * s + w * w + e * e) / (here * here);
            let l = (n + s + w + e) / here;
            let up = 0.5 * g - 0.0625 * l * l;
            let down = 1.0 + 0.25 * l;
            let q = up / (down * down);
            let rest = 1.0 / (1.0 + (q - q0) / (q0 * (1.0 + q0)));
            c[at] = min(max(rest, 0.0), 1.0);
        }
        grid_sync;
        let flow = 0.0;
        if (is_inside) {
            let here = j[at];
            let own = c[at];
            flow = own * (j[north] - here) + c[south] * (j[south] - here) + own * (j[west] - here) + c[east] * (j[east] - here);
        }
        grid_sync;
        if (is_inside) {
            j[at] = j[at] + 0.125 * flow;
        }
    }
    if (is_inside) {
        calm[at] = log(j[at]);
    }
}
