// After Rodinia needle: Needleman-Wunsch along the diagonals.
program p workgroup(16) grid(2) {
    in    a       : u32[32];
    in    b       : u32[32];
    out   m       : u32[33 * 33];
    const penalty = 10;

    let i = global_id.x;
    m[i + 1] = (i + 1) * penalty;
    m[33 * i + 33] = (i + 1) * penalty;
    for (d in 0 .. 63) {
        grid_sync;
        if (i <= d && d - i < 32) {
            let y = d - i;
            let cost = a[i] % 4 == b[y] % 4 ? 0 : 7;
            m[33 * y + i + 34] = min(m[33 * y + i] + cost, min(m[33 * y + i + 1], m[33 * y + 33 + i]) + penalty);
        }
    }
}
