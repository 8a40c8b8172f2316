// Statements that concern some lanes only, at every kind of edge, in groups of two dimensions.
program limits workgroup(8, 4) grid(3, 2) {
    in  n     : u32[8];
    out a     : u32[3072];
    out trips : u32[192];

    let x = global_id.x;
    let y = global_id.y;
    let i = y * 24 + x;
    let low = n[0] % 30;
    let high = n[1] % 40;
    if (x < high) {
        a[i] = 1;
    }
    if (x <= high) {
        a[192 + i] = 2;
    }
    if (x > low) {
        a[384 + i] = 3;
    }
    if (x >= low) {
        a[576 + i] = 4;
    }
    if (low < x) {
        a[768 + i] = 5;
    }
    if (high >= x && y != 3) {
        a[960 + i] = 6;
    }
    if (x == low) {
        a[1152 + i] = 7;
    }
    if (x > low && x < high && y >= 1 && 7 > y) {
        a[1344 + i] = 8;
    }
    if (x <= 4294967295) {
        a[1536 + i] = 9;
    }
    if (x > 4294967295 || x < 0) {
        a[1728 + i] = 10;
    }
    if (local_id.x < n[2] % 10 && local_id.y == n[3] % 5) {
        a[1920 + i] = 11;
    } else {
        a[1920 + i] = 12;
    }
    if (n[4] % 3 < 2 && x < high) {
        a[2112 + i] = 13;
    }
    if (x > low && x > high) {
        a[2304 + i] = 14;
    }
    if (x < 24 && x < low && x < high) {
        a[2496 + i] = 15;
    }
    for (k in x .. high step 5) {
        trips[i] = trips[i] + k;
    }
    for (k in local_id.x .. 8) {
        atomic_add(a[2688 + y * 24], k);
    }
}
