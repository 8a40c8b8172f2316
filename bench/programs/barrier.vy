// A grid barrier and next to nothing else: two workgroups, each lane takes over what a lane of the other
// workgroup left in the round before, so no barrier can go. Run with the optimiser off all the same. Lanes know
// their workgroup, so that these stay apart: as one row of lanes they would be too little for two threads, and
// no barrier at all would be measured.
program barriers workgroup(64) grid(2) {
    param   rounds : u32 = 100;
    out     count  : u32[128];
    scratch turn   : u32[256];

    let i = group_id.x * 64 + local_id.x;
    let from = (i + 64) % 128;
    for (k in 0 .. rounds) {
        let here = (k & 1) * 128;
        turn[128 - here + i] = turn[here + from] + 1;
        grid_sync;
    }
    count[i] = turn[(rounds & 1) * 128 + i];
}
