// After Rodinia gaussian: the two kernels of each step in one, a guard that ends the lanes without a row.
program p workgroup(16) grid(2) {
    inout   a : u32[20 * 20];
    inout   b : u32[20];
    scratch m : u32[20];
    param   n : u32 = 20;

    let row = global_id.x;
    if (row >= n) {
        return;
    }
    for (t in 0 .. n - 1) {
        if (row > t) {
            m[row] = a[row * n + t] / max(a[t * n + t], 1);
        }
        grid_sync;
        if (row > t) {
            for (k in t .. n) {
                a[row * n + k] -= m[row] * a[t * n + k];
            }
            b[row] -= m[row] * b[t];
        }
        grid_sync;
    }
}
