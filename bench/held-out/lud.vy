// A = L U in place, without pivots, by tiles of 16 x 16: the tile on the diagonal, the tiles beside and
// below it, then all the others.
program lud workgroup(16, 16) grid(n / 16, n / 16) {
    param     n    : u32 = 48; // a multiple of 16
    in        from : f32[n * n];
    out       a    : f32[n * n];
    workgroup one  : f32[256];
    workgroup two  : f32[256];

    let x = local_id.x;
    let y = local_id.y;
    let mine = y * 16 + x;
    a[global_id.y * n + global_id.x] = from[global_id.y * n + global_id.x];
    grid_sync;
    for (k in 0 .. n / 16) {
        let corner = (k * 16 + y) * n + k * 16 + x;
        if (group_id.x == k && group_id.y == k) {
            one[mine] = a[corner];
            barrier;
            for (i in 0 .. 15) {
                if (x == i && y > i) {
                    one[mine] = one[mine] / one[i * 17];
                }
                barrier;
                if (x > i && y > i) {
                    one[mine] = one[mine] - one[y * 16 + i] * one[i * 16 + x];
                }
                barrier;
            }
            a[corner] = one[mine];
        }
        grid_sync;
        if (group_id.y == k && group_id.x > k) {
            let at = (k * 16 + y) * n + group_id.x * 16 + x;
            one[mine] = a[corner];
            two[mine] = a[at];
            barrier;
            for (i in 0 .. 15) {
                if (y > i) {
                    two[mine] = two[mine] - one[y * 16 + i] * two[i * 16 + x];
                }
                barrier;
            }
            a[at] = two[mine];
        }
        if (group_id.x == k && group_id.y > k) {
            let at = (group_id.y * 16 + y) * n + k * 16 + x;
            one[mine] = a[corner];
            two[mine] = a[at];
            barrier;
            for (i in 0 .. 16) {
                if (x == i) {
                    two[mine] = two[mine] / one[i * 17];
                }
                barrier;
                if (x > i) {
                    two[mine] = two[mine] - two[y * 16 + i] * one[i * 16 + x];
                }
                barrier;
            }
            a[at] = two[mine];
        }
        grid_sync;
        if (group_id.x > k && group_id.y > k) {
            let at = global_id.y * n + global_id.x;
            one[mine] = a[global_id.y * n + k * 16 + x];
            two[mine] = a[(k * 16 + y) * n + global_id.x];
            barrier;
            let sum = 0.0;
            for (i in 0 .. 16) {
                sum = fma(one[y * 16 + i], two[i * 16 + x], sum);
            }
            a[at] = a[at] - sum;
            barrier;
        }
        grid_sync;
    }
}
