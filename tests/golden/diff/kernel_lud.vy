// After Rodinia lud, modulo 2^32: a column of factors, then the rest of the matrix.
program p workgroup(4, 4) grid(3, 3) {
    inout a : u32[144];

    let x = global_id.x;
    let y = global_id.y;
    for (k in 0 .. 11) {
        if (x == k && y > k) {
            a[y * 12 + k] *= a[k * 12 + k] | 1;
        }
        grid_sync;
        if (x > k && y > k) {
            a[y * 12 + x] -= a[y * 12 + k] * a[k * 12 + x];
        }
        grid_sync;
    }
}
