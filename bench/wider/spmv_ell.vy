// Sparse matrix times vector, every row padded to the same length, column by column, as GPUs like it.
program spmv_ell workgroup(256) elements(rows) {
    param   rows   : u32 = 1024;
    param   per    : u32 = 4; // entries of a row
    param   rounds : u32 = 2; // even: x to y and back
    in      col    : u32[rows * per];
    in      val    : f32[rows * per];
    in      start  : f32[rows];
    out     x      : f32[rows];
    scratch y      : f32[rows];

    let i = global_id.x;
    if (i < rows) {
        x[i] = start[i];
    }
    grid_sync;
    for (pair in 0 .. rounds / 2) {
        if (i < rows) {
            let sum = 0.0;
            for (k in 0 .. per) {
                sum = sum + val[k * rows + i] * x[col[k * rows + i]];
            }
            y[i] = sum;
        }
        grid_sync;
        if (i < rows) {
            let sum = 0.0;
            for (k in 0 .. per) {
                sum = sum + val[k * rows + i] * y[col[k * rows + i]];
            }
            x[i] = sum;
        }
        grid_sync;
    }
}
