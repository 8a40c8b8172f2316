// Temperature of a chip: each cell exchanges heat with its four neighbours, gets its power and loses to
// the air. At the borders a cell is its own neighbour.
program hotspot workgroup(16, 16) grid((width + 15) / 16, (height + 15) / 16) {
    param   width  : u32 = 64;
    param   height : u32 = 64;
    param   steps  : u32 = 2; // even
    in      start  : f32[width * height];
    in      power  : f32[width * height];
    out     now    : f32[width * height];
    scratch next   : f32[width * height];

    let x = global_id.x;
    let y = global_id.y;
    if (x >= width || y >= height) {
        exit;
    }
    let here = y * width + x;
    let north = select(y == 0, here, here - width);
    let south = select(y == height - 1, here, here + width);
    let west = select(x == 0, here, here - 1);
    let east = select(x == width - 1, here, here + 1);
    now[here] = start[here];
    grid_sync;
    for (pair in 0 .. steps / 2) {
        let t = now[here];
        let vertical = now[north] + now[south] - 2.0 * t;
        let horizontal = now[west] + now[east] - 2.0 * t;
        next[here] = t + (0.1 * power[here] + 0.2 * vertical + 0.15 * horizontal + 0.01 * (0.5 - t));
        grid_sync;
        t = next[here];
        vertical = next[north] + next[south] - 2.0 * t;
        horizontal = next[west] + next[east] - 2.0 * t;
        now[here] = t + (0.1 * power[here] + 0.2 * vertical + 0.15 * horizontal + 0.01 * (0.5 - t));
        grid_sync;
    }
}
