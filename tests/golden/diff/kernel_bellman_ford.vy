// Shortest paths with three flags: one barrier for each round.
program p workgroup(16) grid(3) {
    in      edges  : u32[144];
    out     dist   : u32[48];
    scratch change : u32[3];

    let v = global_id.x;
    dist[v] = v == 0 ? 0 : 0x7fffffff;
    grid_sync;
    for (round in 0 .. 48) {
        if (v == 0) {
            change[(round + 1) % 3] = 0;
        }
        let mine = atomic_load(dist[v]);
        for (e in 3 * v .. 3 * v + 3) {
            let to = edges[e] % 48;
            let d = mine + (edges[e] >> 8 & 15);
            if (d < atomic_min(dist[to], d)) {
                atomic_or(change[round % 3], 1);
            }
        }
        grid_sync;
        if (change[round % 3] == 0) {
            break;
        }
    }
}
