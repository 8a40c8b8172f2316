// After Galois: a work list that grows while it is worked off, sizes told apart by 1 - s.
program p workgroup(16) grid(2) {
    in      start : u32[16];
    out     done  : u32[256];
    scratch list  : u32[2 * 256];
    scratch size  : u32[2];

    if (global_id.x < 16) {
        list[atomic_add(size[0], 1)] = start[global_id.x] & 255;
    }
    grid_sync;
    let s = 0;
    while (size[s] > 0) {
        for (k in global_id.x .. min(size[s], 256) step global_size.x) {
            let v = list[s * 256 + k];
            atomic_add(done[v], 1);
            if (v > 1) {
                let at = atomic_add(size[1 - s], 1);
                list[(1 - s) * 256 + (at & 255)] = v / 2;
            }
        }
        grid_sync;
        if (global_id.x == 0) {
            size[s] = 0;
        }
        s = 1 - s;
        grid_sync;
    }
}
