// Groups of one lane, and one group: nothing to combine.
program p workgroup(1) grid(1) {
    out y : f32[6];

    y[0] = grid_add(0.5) + group_add(0.25);
    y[1] = grid_scan_add(0.5) + group_scan_add(0.25);
    y[2] = group_broadcast(2.0, 0) + group_broadcast(4.0, 1);
    y[3] = f32(group_any(1)) + f32(grid_all(2));
    y[4] = group_scan_total(3.0);
}
