// Matrix times vector, a workgroup per row: strided products, then a tree.
program matvec workgroup(128) grid(rows) {
    param     rows    : u32 = 16;
    param     columns : u32 = 300;
    in        a       : f32[rows * columns];
    in        x       : f32[columns];
    out       y       : f32[rows];
    workgroup tile    : f32[128];

    let sum = 0.0;
    for (c in local_id.x .. columns step 128) {
        sum = fma(a[group_id.x * columns + c], x[c], sum);
    }
    tile[local_id.x] = sum;
    barrier;
    let half = 64;
    while (half != 0) {
        if (local_id.x < half) {
            tile[local_id.x] = tile[local_id.x] + tile[local_id.x + half];
        }
        barrier;
        half = half / 2;
    }
    if (local_id.x == 0) {
        y[group_id.x] = tile[0];
    }
}
