// Connected components: roots hook onto lower neighbours' roots, then all ways become short, until
// nothing changes. Each vertex ends with the lowest number of its component.
program components workgroup(256) elements(16384) {
    in      row     : u32[];
    in      col     : u32[];
    out     label   : u32[len(row) - 1];
    scratch changed : u32[2];

    let n = len(row) - 1;
    for (v in global_id.x .. n step global_size.x) {
        label[v] = v;
    }
    grid_sync;
    let turn = 0;
    let goes_on = 1;
    while (goes_on != 0) {
        if (global_id.x == 0) {
            changed[1 - (turn & 1)] = 0;
        }
        for (v in global_id.x .. n step global_size.x) {
            let mine = label[v];
            for (e in row[v] .. row[v + 1]) {
                let other = label[col[e]];
                if (other < mine) {
                    atomic_min(label[mine], other, relaxed);
                    changed[turn & 1] = 1;
                }
            }
        }
        grid_sync;
        for (v in global_id.x .. n step global_size.x) {
            let root = label[v];
            while (label[root] != root) {
                root = label[root];
            }
            label[v] = root;
        }
        goes_on = changed[turn & 1];
        turn = turn + 1;
        grid_sync;
    }
}
