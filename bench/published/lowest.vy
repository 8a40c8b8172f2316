// For each vertex the lowest number among those it reaches: numbers move against the edges until
// nothing changes.
program lowest workgroup(128) elements(8192) {
    in      row     : u32[];
    in      col     : u32[];
    out     label   : u32[len(row) - 1];
    scratch next    : u32[len(row) - 1];
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
            let best = label[v];
            for (e in row[v] .. row[v + 1]) {
                best = min(best, label[col[e]]);
            }
            next[v] = best;
            if (best != label[v]) {
                changed[turn & 1] = 1;
            }
        }
        grid_sync;
        goes_on = changed[turn & 1];
        turn = turn + 1;
        for (v in global_id.x .. n step global_size.x) {
            label[v] = next[v];
        }
        grid_sync;
    }
}
