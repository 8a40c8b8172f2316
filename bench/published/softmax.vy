// Each row becomes exp(x - max) / sum: a workgroup for each row, trees in workgroup memory.
program softmax workgroup(128) grid(rows) {
    param     rows    : u32 = 4;
    param     columns : u32 = 200;
    in        x       : f32[rows * columns];
    out       y       : f32[rows * columns];
    workgroup tree    : f32[128];

    let base = group_id.x * columns;
    let top = -3.0e38;
    for (c in local_id.x .. columns step group_size.x) {
        top = max(top, x[base + c]);
    }
    tree[local_id.x] = top;
    barrier;
    let reach = 64;
    while (reach > 0) {
        if (local_id.x < reach) {
            tree[local_id.x] = max(tree[local_id.x], tree[local_id.x + reach]);
        }
        barrier;
        reach = reach / 2;
    }
    top = tree[0];
    barrier;
    let sum = 0.0;
    for (c in local_id.x .. columns step group_size.x) {
        let e = exp(x[base + c] - top);
        y[base + c] = e;
        sum = sum + e;
    }
    tree[local_id.x] = sum;
    barrier;
    reach = 64;
    while (reach > 0) {
        if (local_id.x < reach) {
            tree[local_id.x] = tree[local_id.x] + tree[local_id.x + reach];
        }
        barrier;
        reach = reach / 2;
    }
    let scale = 1.0 / tree[0];
    for (c in local_id.x .. columns step group_size.x) {
        y[base + c] = y[base + c] * scale;
    }
}
