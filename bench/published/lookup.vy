// The place of each key in a sorted table, by halving.
program lookup workgroup(256) elements(len(key)) {
    in  table : u32[];
    in  key   : u32[];
    out place : u32[len(key)]; // how many entries are below it

    if (global_id.x < len(key)) {
        let wanted = key[global_id.x];
        let low = 0;
        let high = len(table);
        while (low < high) {
            let middle = (low + high) / 2;
            if (table[middle] < wanted) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        place[global_id.x] = low;
    }
}
