// The most value that fits into each size of knapsack: a grid barrier for each item.
program knapsack workgroup(256) elements(room) {
    param   room   : u32 = 1000;
    in      weight : u32[];
    in      value  : u64[len(weight)];
    out     best   : u64[room];
    scratch table  : u64[2 * room];

    let c = global_id.x;
    for (k in 0 .. len(weight)) {
        let from = (k & 1) * room;
        let to = room - from;
        if (c < room) {
            let without = table[from + c];
            let w = weight[k];
            let with = c >= w ? table[from + c - w] + value[k] : 0ul;
            table[to + c] = max(without, with);
        }
        grid_sync;
    }
    if (c < room) {
        best[c] = table[(len(weight) & 1) * room + c];
    }
}
