// How often, and where first, a pattern occurs in a text: each lane looks at its positions and gives up
// at the first byte that differs.
program search workgroup(256) elements(16384) {
    in      text    : u8[];
    in      pattern : u8[];
    out     found   : u32[2]; // how often; the first place
    scratch first   : u32[1];

    if (global_id.x == 0) {
        first[0] = 0xffffffff;
    }
    grid_sync;
    let mine = 0;
    for (i in global_id.x .. len(text) - len(pattern) + 1 step global_size.x) {
        let k = 0;
        while (k < len(pattern) && text[i + k] % 4 == pattern[k] % 4) { // an alphabet of four letters
            k = k + 1;
        }
        if (k == len(pattern)) {
            mine = mine + 1;
            atomic_min(first[0], i, relaxed);
        }
    }
    if (mine != 0) {
        atomic_add(found[0], mine, relaxed);
    }
    grid_sync;
    if (global_id.x == 0) {
        found[1] = first[0];
    }
}
