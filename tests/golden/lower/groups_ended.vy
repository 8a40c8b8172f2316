// groups
// Lanes may have ended: the first of the living to come does it for all.
program ended workgroup(5) {
    in x : f32[];
    out y : f32[10];

    let i = global_id.x;
    if (x[i] < 0.0) {
        exit;
    }
    y[i] = group_add(x[i]);
    y[i + 5] = group_scan_add(x[i]);
}
