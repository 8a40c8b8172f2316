// A maximal independent set of a graph: a vertex whose hash is above that of all undecided neighbours is
// in, its neighbours are out, until all are decided.
program independent workgroup(256) elements(16384) {
    in      row   : u32[];
    in      col   : u32[];
    out     state : u32[len(row) - 1]; // 0 undecided, 1 in, 2 out
    scratch left  : u32[2];

    fn hash(v : u32) -> u32 {
        let h = v * 0x9e3779b1;
        h = (h ^ (h >> 15)) * 0x85ebca77;
        h = (h ^ (h >> 13)) * 0xc2b2ae3d;
        return h ^ (h >> 16);
    }

    let n = len(row) - 1;
    let turn = 0;
    let goes_on = 1;
    while (goes_on != 0) {
        if (global_id.x == 0) {
            left[1 - (turn & 1)] = 0;
        }
        for (v in global_id.x .. n step global_size.x) {
            if (state[v] == 0) {
                let mine = hash(v);
                let is_highest = true;
                for (e in row[v] .. row[v + 1]) {
                    let u = col[e];
                    if (state[u] != 2) {
                        let other = hash(u);
                        if (other > mine || (other == mine && u > v)) {
                            is_highest = false;
                            break;
                        }
                    }
                }
                if (is_highest) {
                    state[v] = 1;
                }
            }
        }
        grid_sync;
        for (v in global_id.x .. n step global_size.x) {
            if (state[v] == 0) {
                for (e in row[v] .. row[v + 1]) {
                    if (state[col[e]] == 1) {
                        state[v] = 2;
                        break;
                    }
                }
                if (state[v] == 0) {
                    left[turn & 1] = 1;
                }
            }
        }
        grid_sync;
        goes_on = left[turn & 1];
        turn = turn + 1;
        grid_sync;
    }
}
