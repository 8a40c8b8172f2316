// Loops of which all lanes make the same trips, but which some leave: these stay in the loops over lanes.
program leaves workgroup(64) grid(3) {
    in  x : u32[192];
    out a : u32[192];
    out b : u32[192];

    let i = global_id.x;
    let sum = 3;
    for (k in 0 .. 40) {
        if (i < 100 + k * 2) {
            sum = sum * 5 + x[k];
            if (x[i] % 16 == k) {
                break;
            }
        }
    }
    a[i] = sum;
    for (k in 0 .. 40) {
        if (i < 20 + k * 4) {
            if (x[i] % 4 == k % 4) {
                continue;
            }
            sum = sum * 3 + x[k + 9];
        }
    }
    b[i] = sum;
}
