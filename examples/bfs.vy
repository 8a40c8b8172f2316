// run: vyre run examples/bfs.vy --in row,col=rmat:10:16:1
//
// Breadth-first search in one program: grid-wide barriers between levels, whatever the size of the
// graph. Lanes that find a vertex at the same time race for it by compare-and-swap; who wins changes
// the order of the queue, never a distance.
program bfs workgroup(256) elements(16384) {
    in      row    : u32[]; // compressed sparse rows
    in      col    : u32[];
    out     dist   : u32[len(row) - 1];
    scratch here   : u32[len(dist)]; // this level's vertices
    scratch next   : u32[len(dist)]; // the next level's
    scratch count  : u32[2];
    param   source : u32 = 0;
    const   none   = 0xffffffff;

    for (v in global_id.x .. len(dist) step global_size.x) {
        dist[v] = select(v == source, 0, none);
    }
    if (global_id.x == 0) {
        here[0] = source;
    }
    grid_sync;
    let level = 0;
    let size = 1;
    while (size != 0) {
        if (global_id.x == 0) {
            count[level & 1] = 0;
        }
        for (q in global_id.x .. size step global_size.x) {
            let v = here[q];
            for (e in row[v] .. row[v + 1]) {
                let u = col[e];
                if (atomic_cas(dist[u], none, level + 1) == none) {
                    next[atomic_add(count[(level + 1) & 1], 1)] = u;
                }
            }
        }
        swap(here, next); // all wait for all, and no bytes move
        level += 1;
        size = count[level & 1]; // the same for every lane: nothing writes count between these barriers
        grid_sync;
    }
}
