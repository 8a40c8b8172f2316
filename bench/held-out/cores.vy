// The core number of each vertex: vertices of the lowest degree go, with those whose degree falls as low by
// that, level after level. The vertices that go next are in a queue.
program cores workgroup(256) elements(16384) {
    in      row    : u32[];
    in      col    : u32[];
    out     core   : u32[len(row) - 1];
    scratch degree : u32[len(core)];
    scratch queue  : u32[2 * len(core)]; // of this turn and of the next
    scratch size   : u32[2];

    let n = len(core);
    for (v in global_id.x .. n step global_size.x) {
        degree[v] = row[v + 1] - row[v];
    }
    grid_sync;
    let gone = 0;
    let turn = 0;
    let k = 0;
    while (gone < n) {
        for (v in global_id.x .. n step global_size.x) {
            if (degree[v] == k) {
                queue[(turn & 1) * n + atomic_add(size[turn & 1], 1, relaxed)] = v;
            }
        }
        grid_sync;
        let here = size[turn & 1];
        grid_sync;
        while (here != 0) {
            let from = (turn & 1) * n;
            let to = n - from;
            for (q in global_id.x .. here step global_size.x) {
                let v = queue[from + q];
                core[v] = k;
                for (e in row[v] .. row[v + 1]) {
                    let u = col[e];
                    if (atomic_load(degree[u], relaxed) > k) {
                        let was = atomic_sub(degree[u], 1, relaxed);
                        if (was == k + 1) {
                            queue[to + atomic_add(size[1 - (turn & 1)], 1, relaxed)] = u;
                        }
                        if (was <= k) {
                            atomic_add(degree[u], 1, relaxed); // it went already
                        }
                    }
                }
            }
            grid_sync;
            if (global_id.x == 0) {
                size[turn & 1] = 0;
            }
            gone = gone + here;
            turn = turn + 1;
            here = size[turn & 1];
            grid_sync;
        }
        k = k + 1;
    }
}
