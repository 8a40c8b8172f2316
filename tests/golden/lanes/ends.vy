// Groups that end as a whole: before and after they have done something.
program ends workgroup(16) grid(4) {
    in    n : u32[8];
    in    x : u32[20];
    out   a : u32[64];
    out   b : u32[64];

    if (n[0] % 4 > 3) {
        exit;
    }
    let k = n[1] % 24;
    let i = global_id.x;
    if (group_id.x == n[2] % 4) {
        exit;
    }
    let twice = 2 * k;
    a[i] = 1 + twice;
    if (k >= 20) {
        exit;
    }
    let seen = x[k];
    b[i] = seen;
    if (n[3] % 4 < 4) {
        exit;
    }
    b[i] = 7;
}
