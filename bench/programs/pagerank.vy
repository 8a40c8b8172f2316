// PageRank of an undirected graph by pulling, a fixed number of rounds: each vertex adds up what its
// neighbours give away. One lane per vertex, rows of any length.
program pagerank workgroup(256) elements(16384) {
    in      row     : u32[];
    in      col     : u32[];
    out     rank    : f32[len(row) - 1];
    scratch share   : f32[len(row) - 1]; // what a vertex gives to each neighbour
    param   damping : f32 = 0.85;
    param   rounds  : u32 = 20;

    let n = f32(len(rank));
    for (v in global_id.x .. len(rank) step global_size.x) {
        rank[v] = 1.0 / n;
    }
    for (k in 0 .. rounds) {
        // Each lane touches the same vertices in both loops: no barrier is needed before this one.
        for (v in global_id.x .. len(rank) step global_size.x) {
            let degree = row[v + 1] - row[v];
            share[v] = select(degree == 0, 0.0, rank[v] / f32(degree));
        }
        grid_sync;
        for (v in global_id.x .. len(rank) step global_size.x) {
            let given = 0.0;
            for (e in row[v] .. row[v + 1]) {
                given = given + share[col[e]];
            }
            rank[v] = (1.0 - damping) / n + damping * given;
        }
        grid_sync;
    }
}
