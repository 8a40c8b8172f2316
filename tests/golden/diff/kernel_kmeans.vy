// k-means in one dimension: sums by atomics, centres by the first lanes.
program p workgroup(16) grid(4) {
    in      x      : u32[64];
    out     centre : u32[4];
    scratch sum    : u32[4];
    scratch count  : u32[4];
    scratch moved  : u32[3];

    let i = global_id.x;
    let mine = x[i] & 1023;
    if (i < 4) {
        centre[i] = i * 300;
    }
    grid_sync;
    for (it in 0 .. 10) {
        let best = 0;
        for (c in 1 .. 4) {
            best = abs_diff(centre[c], mine) < abs_diff(centre[best], mine) ? c : best;
        }
        atomic_add(sum[best], mine);
        atomic_add(count[best], 1);
        grid_sync;
        if (i < 4) {
            let next = count[i] == 0 ? centre[i] : sum[i] / count[i];
            if (next != centre[i]) {
                atomic_or(moved[it % 3], 1);
            }
            centre[i] = next;
            sum[i] = 0;
            count[i] = 0;
        }
        if (i == 4) {
            moved[(it + 1) % 3] = 0;
        }
        grid_sync;
        if (moved[it % 3] == 0) {
            break;
        }
    }
}
