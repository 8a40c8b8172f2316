// After cuSZ: lengths of codes, level by level, until no symbol is left.
program p workgroup(16) grid(4) {
    in      weight : u32[64];
    out     length : u32[64];
    scratch left   : u32[4];
    scratch limit  : u32;

    let i = global_id.x;
    let w = weight[i] & 1023;
    let open = true;
    let it = 0;
    do {
        if (i == 0) {
            left[(it + 1) & 3] = 0;
            limit = 1024 >> it;
        }
        grid_sync;
        if (open && w >= limit) {
            length[i] = it + 1;
            open = false;
        }
        if (open) {
            atomic_add(left[it & 3], 1);
        }
        grid_sync;
        it += 1;
    } while (left[(it - 1) & 3] > 0 && it < 12);
}
