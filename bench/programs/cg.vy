// Conjugate gradients for A x = b with A in compressed sparse rows, f64, a fixed number of steps. One
// lane per row, strided over the grid. A dot product is a partial sum per workgroup; behind the next
// grid barrier every workgroup adds all of them by itself, so that no further barrier is needed.
program cg workgroup(256) elements(16384) {
    in        row   : u32[];
    in        col   : u32[];
    in        val   : f64[];
    in        b     : f64[len(row) - 1];
    out       x     : f64[len(row) - 1];
    out       rest  : f64[1]; // the square of the residual, as the recurrence has it
    param     steps : u32 = 100;
    scratch   r     : f64[len(row) - 1];
    scratch   p     : f64[len(row) - 1];
    scratch   q     : f64[len(row) - 1]; // A p
    scratch   pq    : f64[num];
    scratch   rr    : f64[num];
    workgroup tile  : f64[256];
    const     num   = 64; // workgroups

    // The sum of v over the workgroup, for every lane of it.
    fn group_sum(v : f64) -> f64 {
        barrier; // the tile may still be read from the call before
        tile[local_id.x] = v;
        barrier;
        let half = 128;
        while (half != 0) {
            if (local_id.x < half) {
                tile[local_id.x] = tile[local_id.x] + tile[local_id.x + half];
            }
            barrier;
            half = half >> 1;
        }
        return tile[0];
    }

    let mine = 0.0d;
    for (i in global_id.x .. len(x) step global_size.x) {
        let v = b[i];
        x[i] = 0.0;
        r[i] = v;
        p[i] = v;
        mine = fma(v, v, mine);
    }
    let all = group_sum(mine);
    if (local_id.x == 0) {
        rr[group_id.x] = all;
    }
    grid_sync;
    let now = group_sum(rr[local_id.x]); // beyond the end a load gives 0
    for (k in 0 .. steps) {
        mine = 0.0;
        for (i in global_id.x .. len(x) step global_size.x) {
            let sum = 0.0d;
            for (e in row[i] .. row[i + 1]) {
                sum = fma(val[e], p[col[e]], sum);
            }
            q[i] = sum;
            mine = fma(p[i], sum, mine);
        }
        all = group_sum(mine);
        if (local_id.x == 0) {
            pq[group_id.x] = all;
        }
        grid_sync;
        let alpha = now / group_sum(pq[local_id.x]);
        mine = 0.0;
        for (i in global_id.x .. len(x) step global_size.x) {
            x[i] = fma(alpha, p[i], x[i]);
            let left = fma(-alpha, q[i], r[i]);
            r[i] = left;
            mine = fma(left, left, mine);
        }
        all = group_sum(mine);
        if (local_id.x == 0) {
            rr[group_id.x] = all;
        }
        grid_sync;
        let next = group_sum(rr[local_id.x]);
        let beta = next / now;
        now = next;
        for (i in global_id.x .. len(x) step global_size.x) {
            p[i] = fma(beta, p[i], r[i]);
        }
        grid_sync;
    }
    if (global_id.x == 0) {
        rest[0] = now;
    }
}
