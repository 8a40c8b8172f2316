// After Parboil bfs: two queues by turns, sizes in two words.
program p workgroup(16) grid(2) {
    in      edges : u32[256];
    out     level : u32[64];
    scratch queue : u32[2 * 64];
    scratch size  : u32[2];

    for (v in global_id.x .. 64 step 32) {
        level[v] = 0xffffffff;
    }
    grid_sync;
    if (global_id.x == 0) {
        level[5] = 0;
        queue[0] = 5;
        size[0] = 1;
    }
    grid_sync;
    let s = 0;
    let depth = 0;
    while (size[s] != 0) {
        for (q in global_id.x .. size[s] step global_size.x) {
            let v = queue[s * 64 + q];
            for (e in 4 * v .. 4 * v + 4) {
                let u = edges[e] & 63;
                if (atomic_cas(level[u], 0xffffffff, depth + 1) == 0xffffffff) {
                    queue[(s ^ 1) * 64 + atomic_add(size[s ^ 1], 1)] = u;
                }
            }
        }
        grid_sync;
        if (global_id.x == 0) {
            size[s] = 0;
        }
        s ^= 1;
        depth += 1;
        grid_sync;
    }
}
