// The game of life on a torus, a byte per cell, one lane per cell.
program life workgroup(32, 8) grid((width + 31) / 32, (height + 7) / 8) {
    param   width  : u32 = 64;
    param   height : u32 = 64;
    param   turns  : u32 = 2; // even
    in      start  : u8[width * height]; // the lowest bit lives
    out     cells  : u8[width * height];
    scratch other  : u8[width * height];

    let x = global_id.x;
    let y = global_id.y;
    let is_inside = x < width && y < height;
    let left = select(x == 0, width - 1, x - 1);
    let right = select(x + 1 == width, 0, x + 1);
    let here = y * width;
    let above = select(y == 0, height - 1, y - 1) * width;
    let below = select(y + 1 == height, 0, y + 1) * width;
    if (is_inside) {
        cells[here + x] = start[here + x] & 1;
    }
    grid_sync;
    for (pair in 0 .. turns / 2) {
        if (is_inside) {
            let sides = cells[here + left] + cells[here + right];
            let up = cells[above + left] + cells[above + x] + cells[above + right];
            let down = cells[below + left] + cells[below + x] + cells[below + right];
            let sum = sides + up + down;
            other[here + x] = select(sum == 3 || (sum == 2 && cells[here + x] == 1), 1, 0);
        }
        grid_sync;
        if (is_inside) {
            let sides = other[here + left] + other[here + right];
            let up = other[above + left] + other[above + x] + other[above + right];
            let down = other[below + left] + other[below + x] + other[below + right];
            let sum = sides + up + down;
            cells[here + x] = select(sum == 3 || (sum == 2 && other[here + x] == 1), 1, 0);
        }
        grid_sync;
    }
}
