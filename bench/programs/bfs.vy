// Breadth-first search with a queue per level. Lanes that find a vertex at the same time race for it
// by compare-and-swap: the order of the queue depends on who wins, no distance does.
program bfs workgroup(256) elements(16384) {
    in      row    : u32[];
    in      col    : u32[];
    out     dist   : u32[len(row) - 1];
    scratch queue  : u32[2 * len(dist)]; // this level's vertices and the next level's
    scratch count  : u32[2];
    param   source : u32 = 0;

    for (v in global_id.x .. len(dist) step global_size.x) {
        dist[v] = 0xffffffff;
    }
    grid_sync;
    if (global_id.x == 0) {
        dist[source] = 0;
        queue[0] = source;
    }
    grid_sync;
    let level = 0;
    let size = 1;
    while (size != 0) {
        let here = (level & 1) * len(dist);
        let next = len(dist) - here;
        if (global_id.x == 0) {
            count[level & 1] = 0;
        }
        for (q in global_id.x .. size step global_size.x) {
            let v = queue[here + q];
            for (e in row[v] .. row[v + 1]) {
                let u = col[e];
                if (atomic_cas(dist[u], 0xffffffff, level + 1, relaxed) == 0xffffffff) {
                    queue[next + atomic_add(count[(level + 1) & 1], 1, relaxed)] = u;
                }
            }
        }
        grid_sync;
        level = level + 1;
        size = count[level & 1];
        grid_sync;
    }
}
