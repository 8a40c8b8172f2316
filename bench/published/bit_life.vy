// The game of life on a torus, 32 cells in each word: sums of three bits by logic.
program bit_life workgroup(64, 4) grid((words + 63) / 64, (height + 3) / 4) {
    param   words  : u32 = 4; // of a row
    param   height : u32 = 64;
    param   turns  : u32 = 2;
    in      start  : u32[words * height];
    out     cells  : u32[words * height];
    scratch state  : u32[2 * words * height];

    let x = global_id.x;
    let y = global_id.y;
    if (x >= words || y >= height) {
        exit;
    }
    let size = words * height;
    let at = y * words + x;
    let left = (x + words - 1) % words;
    let right = (x + 1) % words;
    state[at] = start[at];
    grid_sync;
    for (turn in 0 .. turns) {
        let from = (turn & 1) * size;
        let one = 0; // sums of the eight around, modulo 8
        let two = 0;
        let four = 0;
        for (dy in 0 .. 3) {
            let row = from + (y + height + dy - 1) % height * words;
            let mid = state[row + x];
            let west = (mid << 1) | (state[row + left] >> 31);
            let east = (mid >> 1) | (state[row + right] << 31);
            let centre = select(dy == 1, 0, mid);
            let sum = west ^ east ^ centre;
            let carry = (west & east) | (centre & (west ^ east));
            let over = one & sum;
            one = one ^ sum;
            let next = two ^ carry ^ over;
            four = four ^ ((two & carry) | (over & (two ^ carry)));
            two = next;
        }
        state[size - from + at] = two & ~four & (one | state[from + at]);
        grid_sync;
    }
    cells[at] = state[(turns & 1) * size + at];
}
