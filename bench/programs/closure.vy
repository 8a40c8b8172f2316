// Transitive, reflexive closure of a directed graph: from each vertex the set of those it reaches, as a
// row of bits. Sweeps from one buffer to the other and back, until a trip changes nothing.
program closure workgroup(256) elements(16384) {
    in      row     : u32[];
    in      col     : u32[];
    param   words   : u32 = 1; // of a set: (vertices + 31) / 32
    out     reach   : u32[(len(row) - 1) * words];
    out     trips   : u32[1];
    scratch next    : u32[(len(row) - 1) * words];
    scratch changed : u32[2]; // in this trip and the other one

    for (v in global_id.x .. len(row) - 1 step global_size.x) {
        reach[v * words + v / 32] = 1 << (v % 32);
    }
    grid_sync;
    let trip = 0;
    let more = 1;
    while (more != 0) {
        let slot = trip & 1;
        for (i in global_id.x .. len(reach) step global_size.x) {
            let word = i % words;
            let v = i / words;
            let set = reach[i];
            for (e in row[v] .. row[v + 1]) {
                set = set | reach[col[e] * words + word];
            }
            next[i] = set;
        }
        grid_sync;
        if (global_id.x == 0) {
            changed[1 - slot] = 0;
        }
        for (i in global_id.x .. len(reach) step global_size.x) {
            let word = i % words;
            let v = i / words;
            let set = next[i];
            for (e in row[v] .. row[v + 1]) {
                set = set | next[col[e] * words + word];
            }
            if (set != next[i]) {
                changed[slot] = 1;
            }
            reach[i] = set;
        }
        grid_sync;
        more = changed[slot];
        trip = trip + 1;
    }
    if (global_id.x == 0) {
        trips[0] = trip;
    }
}
