// That w[..] is the same for the group is known by the barriers of the operation, also where the
// group is one lane and the operation is only its argument.
program p workgroup(1) grid(2) {
    workgroup w : bool[4];
    out       y : u32[8];

    w[0] = true;
    barrier;
    for (i in 0 .. 8 step 3) {
        if (w[-i % 3]) {
            let g = group_scan_total(1.0);
            y[4 * group_id.x + i % 3] += 1;
            w[local_id.x] = bool(g);
            barrier;
        }
    }
}
