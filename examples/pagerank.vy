// run: vyre run examples/pagerank.vy --in row,col=rmat:9:8:1
//
// PageRank of an undirected graph, by pulling: each vertex adds up what its neighbours give away.
// Vertices without neighbours give to all. Sums over all vertices are made in blocks of fixed shape,
// so the ranks are the same bytes on every device and grid; the loop ends when they hardly change.
program pagerank workgroup(128) elements(4096) {
    in        row       : u32[];
    in        col       : u32[];
    out       rank      : f32[len(row) - 1];
    out       rounds    : u32[1];
    param     damping   : f32 = 0.85;
    param     tolerance : f32 = 1e-6; // of the sum of all changes
    param     limit     : u32 = 100; // rounds at most
    scratch   share     : f32[len(row) - 1]; // what a vertex gives to each neighbour
    scratch   term      : f32[len(row) - 1]; // what is added up next
    scratch   partial   : f32[blocks];
    scratch   total     : f32[1];
    workgroup tile      : f32[128];
    const     blocks    = 32;

    fn group_sum(v : f32) -> f32 {
        barrier;
        tile[local_id.x] = v;
        barrier;
        let half = 64;
        while (half != 0) {
            if (local_id.x < half) {
                tile[local_id.x] = tile[local_id.x] + tile[local_id.x + half];
            }
            barrier;
            half = half >> 1;
        }
        return tile[0];
    }

    // The sum of all terms, the same for every lane of the grid.
    fn grid_sum() -> f32 {
        grid_sync;
        for (block in group_id.x .. blocks step num_groups.x) {
            let mine = 0.0;
            for (i in block * 128 + local_id.x .. len(term) step blocks * 128) {
                mine = mine + term[i];
            }
            let all = group_sum(mine);
            if (local_id.x == 0) {
                partial[block] = all;
            }
        }
        grid_sync;
        if (group_id.x == 0) {
            let all = group_sum(partial[local_id.x]);
            if (local_id.x == 0) {
                total[0] = all;
            }
        }
        grid_sync;
        return total[0];
    }

    let n = f32(len(rank));
    for (v in global_id.x .. len(rank) step global_size.x) {
        rank[v] = 1.0 / n;
    }
    let change = tolerance + 1.0;
    let done = 0;
    while (change > tolerance && done < limit) {
        // Each lane touches the same vertices in every loop: no barrier is needed before this one.
        for (v in global_id.x .. len(rank) step global_size.x) {
            let degree = row[v + 1] - row[v];
            share[v] = select(degree == 0, 0.0, rank[v] / f32(degree));
            term[v] = select(degree == 0, rank[v], 0.0);
        }
        let lost = grid_sum();
        let base = (1.0 - damping) / n + damping * lost / n;
        for (v in global_id.x .. len(rank) step global_size.x) {
            let given = 0.0;
            for (e in row[v] .. row[v + 1]) {
                given = given + share[col[e]];
            }
            let now = base + damping * given;
            term[v] = abs(now - rank[v]);
            rank[v] = now;
        }
        change = grid_sum();
        done = done + 1;
    }
    if (global_id.x == 0) {
        rounds[0] = done;
    }
}
