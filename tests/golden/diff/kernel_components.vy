// Connected components: hook, then jump until all trees are flat.
program p workgroup(16) grid(3) {
    in      edges : u32[96];
    out     root  : u32[48];
    scratch again : u32;

    let v = global_id.x;
    root[v] = v;
    grid_sync;
    let go = true;
    while (go) {
        if (v == 0) {
            again = 0;
        }
        grid_sync;
        for (e in 2 * v .. 2 * v + 2) {
            let u = edges[e] % 48;
            let a = atomic_load(root[v]);
            let b = atomic_load(root[u]);
            if (a != b) {
                if (atomic_min(root[max(a, b)], min(a, b)) > min(a, b)) {
                    atomic_or(again, 1);
                }
            }
        }
        grid_sync;
        go = again != 0;
        let r = atomic_load(root[v]);
        while (r != atomic_load(root[r])) {
            r = atomic_load(root[r]);
        }
        atomic_min(root[v], r);
        grid_sync;
    }
}
