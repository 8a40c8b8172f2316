// Loops whose bounds follow from a quotient: rows of lanes are parted where it changes. Widths of 0, of 1, below
// a row of lanes and beyond all of them; bounds that end before they begin, and elements outside of memory.
program parted workgroup(64) grid(2) {
    in      x    : u32[700];
    in      col  : u32[90];
    out     o    : u32[3000];
    scratch from : u32[61];

    for (v in global_id.x .. 61 step global_size.x) {
        from[v] = v * 3 / 2 + (v & 4) * (v % 3);
    }
    grid_sync;
    for (t in 0 .. 5) {
        let width = select(t == 0, 0, select(t == 1, 1, select(t == 2, 11, select(t == 3, 100, 4000000000))));
        for (i in global_id.x .. 600 step global_size.x) {
            let v = i / width;
            let word = i % width;
            let set = x[i] ^ o[(t + 4) % 5 * 600 + (i + 77) % 600];
            for (e in from[v] .. from[v + 1]) {
                set = set * 5 + x[col[e] % 50 * width + word];
            }
            o[t * 600 + i] = set + v;
        }
        grid_sync;
    }
}
