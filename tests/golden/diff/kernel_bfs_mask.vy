// After Rodinia bfs: masks of the frontier, and a flag that says whether there is a next one.
program p workgroup(16) grid(3) {
    in      edges : u32[192];
    out     cost  : u32[48];
    scratch front : u32[48];
    scratch next  : u32[48];
    scratch seen  : u32[48];
    scratch over  : u32;

    let v = global_id.x;
    front[v] = v == 0 ? 1 : 0;
    seen[v] = front[v];
    grid_sync;
    let more = true;
    while (more) {
        if (front[v] != 0) {
            front[v] = 0;
            for (e in 4 * v .. 4 * v + 4) {
                let u = edges[e] % 48;
                if (seen[u] == 0) {
                    atomic_store(cost[u], cost[v] + 1);
                    atomic_store(next[u], 1);
                }
            }
        }
        grid_sync;
        if (v == 0) {
            over = 0;
        }
        grid_sync;
        if (next[v] != 0) {
            front[v] = 1;
            seen[v] = 1;
            next[v] = 0;
            atomic_store(over, 1);
        }
        grid_sync;
        more = over != 0;
    }
}
