// Odd-even transposition sort that stops when two rounds in a row change nothing.
program p workgroup(8) grid(4) {
    inout   a    : u32[64];
    scratch work : u32[4];

    let i = global_id.x;
    for (round in 0 .. 70) {
        let at = 2 * i + (round & 1);
        if (i == 0) {
            work[(round + 1) & 3] = 0;
        }
        if (at + 1 < 64 && a[at] > a[at + 1]) {
            let x = a[at];
            a[at] = a[at + 1];
            a[at + 1] = x;
            atomic_or(work[round & 3], 1);
        }
        grid_sync;
        if (round > 0 && work[round & 3] + work[(round - 1) & 3] == 0) {
            break;
        }
    }
}
