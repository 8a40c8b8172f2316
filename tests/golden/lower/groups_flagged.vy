// groups,ended_lanes
// Lanes may not end: those that have give what changes nothing, or tell that they are absent.
program flagged workgroup(5) {
    in x : f32[];
    out y : f32[10];

    let i = global_id.x;
    if (x[i] < 0.0) {
        exit;
    }
    y[i] = group_add(x[i]);
    y[i + 5] = group_min(x[i]) + group_scan_add(x[i]);
}
