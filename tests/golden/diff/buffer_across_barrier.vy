// Lanes of a group pass values through buffers, ordered by workgroup barriers only.
program p workgroup(8) grid(3) {
    inout     a   : u32[24];
    out       b   : u32[24];
    out       sum : u32[3];
    scratch   c   : u32[24];
    workgroup w   : u32[8];

    let g = global_id.x;
    let l = local_id.x;
    let first = g - l;
    let mine = a[g] * 3 + 1;
    c[g] = mine;
    barrier;
    let theirs = c[first + (l + 3) % 8];
    barrier;
    c[g] = theirs ^ mine;
    w[l] = theirs;
    barrier;
    a[first + (7 - l)] = c[g ^ 1] + w[7 - l] + mine;
    let half = 4;
    while (half > 0) {
        barrier;
        if (l < half) {
            c[g] += c[g + half];
        }
        half /= 2;
    }
    barrier;
    if (l == 5) {
        sum[group_id.x] = c[first];
        exit;
    }
    barrier;
    b[g] = a[g] + sum[group_id.x] + theirs;
    grid_sync;
    c[g] = b[(g + 9) % 24];
    barrier;
    a[g] = c[first + (l * 5) % 8] + mine;
}
