// A decoder of run lengths: a scan says where runs begin, then each lane finds its run.
program p workgroup(16) grid(2) {
    in      value  : u32[32];
    in      length : u32[32];
    out     text   : u32[128];
    scratch start  : u32[33];

    let i = global_id.x;
    let mine = length[i] & 3;
    let before = grid_scan_add(mine);
    start[i + 1] = before;
    grid_sync;
    for (at in i .. start[32] / 32 * 32 step 32) {
        let low = 0;
        for (let step = 16; step > 0; step /= 2) {
            if (start[low + step] <= at) {
                low += step;
            }
        }
        text[at] = value[low];
    }
}
