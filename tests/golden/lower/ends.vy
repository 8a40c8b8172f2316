// ended_lanes
// Lanes end before barriers: in a branch, in an inner loop; a loop that all know, one that depends
// on memory.
program ends workgroup(64) {
    in x : u32[];
    out y : u32[len(x)];
    workgroup t : u32[64];
    param rounds : u32 = 3;

    if (global_id.x >= len(x)) {
        exit;
    }
    let v = x[global_id.x];
    for (r in 0 .. rounds) {
        t[local_id.x] = v;
        barrier;
        v = v + t[local_id.x ^ 1];
        barrier;
        for (k in 0 .. v % 8) {
            if (t[k] == r) {
                exit;
            }
        }
    }
    let n = 1;
    while (n < x[group_id.x]) {
        n = n * 2;
        barrier;
    }
    y[global_id.x] = v + n;
}
