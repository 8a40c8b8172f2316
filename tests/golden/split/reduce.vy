// Operations over the grid: one decides about a loop, one is a scan of floats, one a sum behind an
// exit.
program reduce workgroup(4) elements(len(x)) {
    inout x : f32[];
    out   y : f32[len(x)];

    let i = global_id.x;
    if (i >= len(x)) {
        exit;
    }
    let rounds = 0;
    while (grid_any(x[i] > 1.0)) {
        x[i] = x[i] * 0.5;
        rounds = rounds + 1;
    }
    y[i] = grid_scan_add(x[i]) / grid_add(x[i]) + f32(rounds);
}
