// A^T (A x): a lane for each row, then one for each column.
program atax workgroup(256) elements(max(rows, columns)) {
    param   rows    : u32 = 100;
    param   columns : u32 = 60;
    in      a       : f32[rows * columns];
    in      x       : f32[columns];
    out     y       : f32[columns];
    scratch ax      : f32[rows];

    let i = global_id.x;
    if (i < rows) {
        let sum = 0.0;
        for (c in 0 .. columns) {
            sum = fma(a[i * columns + c], x[c], sum);
        }
        ax[i] = sum;
    }
    grid_sync;
    if (i < columns) {
        let sum = 0.0;
        for (r in 0 .. rows) {
            sum = fma(a[r * columns + i], ax[r], sum);
        }
        y[i] = sum;
    }
}
