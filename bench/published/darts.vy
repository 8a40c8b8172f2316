// How many of many random points lie in the circle: each lane throws its own, a sum at the end.
program darts workgroup(64) elements(lanes) {
    param lanes  : u32 = 128;
    param throws : u32 = 100;
    in    seed   : u32[lanes];
    out   hits   : u32[1];

    if (global_id.x < lanes) {
        let state = seed[global_id.x] | 1;
        let mine = 0;
        for (k in 0 .. throws) {
            state = state ^ (state << 13);
            state = state ^ (state >> 17);
            state = state ^ (state << 5);
            let x = state & 0x7fff;
            let y = (state >> 16) & 0x7fff;
            if (x * x + y * y < 0x40000000) {
                mine = mine + 1;
            }
        }
        atomic_add(hits[0], mine, relaxed);
    }
}
