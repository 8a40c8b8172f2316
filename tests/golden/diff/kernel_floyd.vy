// Floyd-Warshall: row k and column k do not change in round k.
program p workgroup(4, 4) grid(4, 4) {
    inout d : u32[256];

    let x = global_id.x;
    let y = global_id.y;
    d[16 * y + x] = d[16 * y + x] & 255;
    for (k in 0 .. 16) {
        grid_sync;
        let through = d[16 * y + k] + d[16 * k + x];
        if (x != k && y != k && through < d[16 * y + x]) {
            d[16 * y + x] = through;
        }
    }
}
