// A grid operation decides about trips in which lanes end, and waits once in each.
program p workgroup(4) grid(3) {
    inout x : u32[12];

    let i = global_id.x;
    let k = 0;
    while (grid_any(x[i] % 8 > k)) {
        k = k + 1;
        if (x[i] % 8 == k) {
            x[i] = 100 + k;
            exit;
        }
    }
    x[i] = k + 200;
}
