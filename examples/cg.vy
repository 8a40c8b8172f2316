// run: vyre run examples/cg.vy --in row,col=grid:16:16 --in b=random:256:1
//
// Conjugate gradients for A x = b, where A = L + shift * I and L is the Laplacian of a graph: its
// diagonal is the degree, its other entries are -1. The loop runs on the residual, with barriers
// inside. `grid_add` adds in an order that the grid alone decides, so every device gives the same bytes.
program cg workgroup(128) elements(2048) {
    in      row       : u32[];
    in      col       : u32[];
    in      b         : f64[len(row) - 1];
    out     x         : f64[len(row) - 1];
    out     steps     : u32;
    out     residual  : f64; // relative, as the recurrence has it
    param   shift     : f64 = 0.01;
    param   tolerance : f64 = 1e-10;
    param   limit     : u32 = 1000;
    scratch r         : f64[len(row) - 1];
    scratch p         : f64[len(row) - 1];
    scratch q         : f64[len(row) - 1]; // A p

    let mine = 0.0d; // this lane's part of a dot product
    for (i in global_id.x .. len(x) step global_size.x) {
        r[i] = b[i];
        p[i] = b[i];
        mine += b[i] * b[i];
    }
    let first = grid_add(mine);
    let rr = first;
    let step_count = 0;
    while (rr > tolerance * tolerance * first && step_count < limit) {
        mine = 0.0d;
        for (i in global_id.x .. len(x) step global_size.x) {
            let sum = (f64(row[i + 1] - row[i]) + shift) * p[i];
            for (e in row[i] .. row[i + 1]) {
                sum -= p[col[e]];
            }
            q[i] = sum;
        }
        for (i in global_id.x .. len(x) step global_size.x) {
            mine += p[i] * q[i];
        }
        let alpha = rr / grid_add(mine);
        mine = 0.0d;
        for (i in global_id.x .. len(x) step global_size.x) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            mine += r[i] * r[i];
        }
        let next = grid_add(mine);
        let beta = next / rr;
        for (i in global_id.x .. len(x) step global_size.x) {
            p[i] = r[i] + beta * p[i];
        }
        rr = next;
        step_count += 1;
        grid_sync; // p is complete before the next product reads it
    }
    if (global_id.x == 0) {
        steps = step_count;
        residual = select(first > 0.0, sqrt(rr / first), 0.0);
    }
}
