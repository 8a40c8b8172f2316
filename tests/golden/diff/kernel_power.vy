// Power iteration with a sparse matrix: a norm in workgroup memory, then over the grid.
program p workgroup(16) grid(2) {
    in        col  : u32[128];
    in        val  : u32[128];
    inout     x    : u32[32];
    scratch   y    : u32[32];
    scratch   norm : u32[2];
    workgroup t    : u32[16];

    let i = global_id.x;
    for (it in 0 .. 6) {
        let s = it % 2;
        let sum = 0;
        for (e in i * 4 .. i * 4 + 4) {
            sum += (val[e] & 15) * x[col[e] % 32];
        }
        y[i] = sum;
        t[local_id.x] = sum & 1023;
        barrier;
        for (let w = 8; w > 0; w /= 2) {
            if (local_id.x < w) {
                t[local_id.x] = max(t[local_id.x], t[local_id.x + w]);
            }
            barrier;
        }
        if (local_id.x == 0) {
            atomic_max(norm[s], t[0]);
        }
        grid_sync;
        let n = norm[s];
        if (n == 0) {
            break;
        }
        x[i] = (y[i] & 1023) * 64 / n;
        if (i == 0) {
            norm[1 - s] = 0;
        }
        grid_sync;
    }
}
