// Behind a lane that has ended a sum of -0.0 stays that: nothing is not 0.
program p workgroup(4) grid(1) {
    out y : u32[4];

    if (local_id.x == 1) {
        exit;
    }
    let before = subgroup_scan_add(-0.0);
    y[local_id.x] = bitcast<u32>(before);
}
