// run: vyre run examples/cg.vy --in row,col=grid:16:16 --in b=random:256:1
//
// Conjugate gradients for A x = b, where A = L + shift * I and L is the Laplacian of a graph: its
// diagonal is the degree, its other entries are -1. The loop runs on the residual, with barriers
// inside. Dot products are made in blocks of fixed shape, so every device and grid gives the same bytes.
program cg workgroup(128) elements(2048) {
    in        row       : u32[];
    in        col       : u32[];
    in        b         : f64[len(row) - 1];
    out       x         : f64[len(row) - 1];
    out       steps     : u32[1];
    out       residual  : f64[1]; // relative, as the recurrence has it
    param     shift     : f64 = 0.01;
    param     tolerance : f64 = 1e-10;
    param     limit     : u32 = 1000;
    scratch   r         : f64[len(row) - 1];
    scratch   p         : f64[len(row) - 1];
    scratch   q         : f64[len(row) - 1]; // A p
    scratch   term      : f64[len(row) - 1]; // of the next dot product
    scratch   partial   : f64[blocks];
    scratch   total     : f64[1];
    workgroup tile      : f64[128];
    const     blocks    = 16;

    fn group_sum(v : f64) -> f64 {
        barrier;
        tile[local_id.x] = v;
        barrier;
        let half = 64;
        while (half != 0) {
            if (local_id.x < half) {
                tile[local_id.x] = tile[local_id.x] + tile[local_id.x + half];
            }
            barrier;
            half = half >> 1;
        }
        return tile[0];
    }

    // The sum of all terms, the same for every lane of the grid.
    fn grid_sum() -> f64 {
        grid_sync;
        for (block in group_id.x .. blocks step num_groups.x) {
            let mine = 0.0d;
            for (i in block * 128 + local_id.x .. len(term) step blocks * 128) {
                mine = mine + term[i];
            }
            let all = group_sum(mine);
            if (local_id.x == 0) {
                partial[block] = all;
            }
        }
        grid_sync;
        if (group_id.x == 0) {
            let all = group_sum(partial[local_id.x]);
            if (local_id.x == 0) {
                total[0] = all;
            }
        }
        grid_sync;
        return total[0];
    }

    for (i in global_id.x .. len(x) step global_size.x) {
        r[i] = b[i];
        p[i] = b[i];
        term[i] = b[i] * b[i];
    }
    let rr = grid_sum();
    let goal = tolerance * tolerance * rr;
    let first = rr;
    let step_count = 0;
    while (rr > goal && step_count < limit) {
        for (i in global_id.x .. len(x) step global_size.x) {
            let sum = (f64(row[i + 1] - row[i]) + shift) * p[i];
            for (e in row[i] .. row[i + 1]) {
                sum = sum - p[col[e]];
            }
            q[i] = sum;
            term[i] = p[i] * sum;
        }
        let alpha = rr / grid_sum();
        for (i in global_id.x .. len(x) step global_size.x) {
            x[i] = x[i] + alpha * p[i];
            let rest = r[i] - alpha * q[i];
            r[i] = rest;
            term[i] = rest * rest;
        }
        let next = grid_sum();
        let beta = next / rr;
        for (i in global_id.x .. len(x) step global_size.x) {
            p[i] = r[i] + beta * p[i];
        }
        rr = next;
        step_count = step_count + 1;
        grid_sync; // p is complete before the next product reads it
    }
    if (global_id.x == 0) {
        steps[0] = step_count;
        residual[0] = select(first > 0.0, sqrt(rr / first), 0.0);
    }
}
