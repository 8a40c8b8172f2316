// Alignment of two sequences by Needleman and Wunsch: tiles of 64 x 64 of the table along diagonals with a
// grid barrier for each, and in a tile diagonals again with a barrier of the workgroup for each.
program needle workgroup(64) grid(n / 64) {
    param     n     : u32 = 64; // a multiple of 64
    in        a     : u8[n];
    in        b     : u8[n];
    in        alike : i32[576]; // of 24 letters
    out       score : i32[(n + 1) * (n + 1)];
    workgroup tile  : i32[4225]; // 65 x 65
    const     gap   : i32 = 10;

    let lane = local_id.x;
    let wide = n + 1;
    let tiles = n / 64;
    for (i in global_id.x .. wide step global_size.x) {
        score[i] = -gap * i32(i);
        score[i * wide] = -gap * i32(i);
    }
    grid_sync;
    for (diagonal in 0 .. 2 * tiles - 1) {
        let first = select(diagonal < tiles, 0, diagonal - tiles + 1);
        let last = min(diagonal, tiles - 1);
        let row = first + group_id.x; // of tiles
        if (row <= last) {
            let top = row * 64;
            let left = (diagonal - row) * 64;
            tile[lane + 1] = score[top * wide + left + lane + 1];
            tile[(lane + 1) * 65] = score[(top + lane + 1) * wide + left];
            if (lane == 0) {
                tile[0] = score[top * wide + left];
            }
            let letter = b[left + lane];
            barrier;
            for (m in 0 .. 127) {
                if (lane <= m && m - lane < 64) {
                    let r = m - lane;
                    let match = tile[r * 65 + lane] + alike[a[top + r] * 24 + letter];
                    let best = max(tile[r * 65 + lane + 1], tile[(r + 1) * 65 + lane]) - gap;
                    tile[(r + 1) * 65 + lane + 1] = max(match, best);
                }
                barrier;
            }
            for (r in 0 .. 64) {
                score[(top + r + 1) * wide + left + lane + 1] = tile[(r + 1) * 65 + lane + 1];
            }
            barrier;
        }
        grid_sync;
    }
}
