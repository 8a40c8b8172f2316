// row
// What is inside of its row is the product and the sum; else it is tested, once for each index.
program rows workgroup(16, 16) grid((w + 15) / 16, (h + 15) / 16) {
    param w : u32 = 20;
    param h : u32 = 18;
    in a : f32[h][w];
    in points : f32[][3];
    out b : f32[w][h];
    workgroup t : f32[16][17];
    private c : f32[2][3][4];

    let y = global_id.y;
    let x = global_id.x;
    t[local_id.y][local_id.x] = a[y][x];
    barrier;
    if (x < h && y < w) {
        b[y][x] = t[local_id.x][local_id.y];
    }
    c[x & 1][y % 3][3] = points[x][2] + points[x][3];
    while (c[x & 1][y][0] < points[x][y]) {
        c[1][2][3] += 1.0;
        c[x & 1][y][0] = c[1][2][3];
    }
    if (x < len(points, 0)) {
        b[x][y] = points[x][0] + c[1][2][x];
    }
}
