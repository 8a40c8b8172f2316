// A grid barrier and next to nothing else: two workgroups, each lane takes over what a lane of the other
// workgroup left in the round before, so no barrier can go. Run with the optimiser off all the same.
program barriers workgroup(64) grid(2) {
    param   rounds : u32 = 100;
    out     count  : u32[128];
    scratch turn   : u32[256];

    let i = global_id.x;
    let from = (i + 64) % 128;
    for (k in 0 .. rounds) {
        let here = (k & 1) * 128;
        turn[128 - here + i] = turn[here + from] + 1;
        grid_sync;
    }
    count[i] = turn[(rounds & 1) * 128 + i];
}
