// Random walks on a graph: each lane hashes its way along the edges and counts where it ends.
program walks workgroup(128) elements(walkers) {
    in    row     : u32[];
    in    col     : u32[];
    out   ended   : u32[len(row) - 1];
    param walkers : u32 = 1024;
    param steps   : u32 = 16;

    fn hash(v : u32) -> u32 {
        let h = v * 0x9e3779b1;
        h = (h ^ (h >> 15)) * 0x85ebca77;
        h = (h ^ (h >> 13)) * 0xc2b2ae3d;
        return h ^ (h >> 16);
    }

    if (global_id.x < walkers) {
        let at = hash(global_id.x) % len(ended);
        let state = global_id.x;
        for (k in 0 .. steps) {
            let degree = row[at + 1] - row[at];
            state = hash(state + k);
            if (degree != 0) {
                at = col[row[at] + state % degree];
            }
        }
        atomic_add(ended[at], 1, relaxed);
    }
}
