// groups
// A sum and a scan by all lanes of a group of three; nothing of one that has ended.
program groups workgroup(3) {
    in x : f32[];
    out y : f32[12];

    let i = global_id.x;
    y[i] = group_add(x[i]);
    y[i + 3] = group_scan_add(x[i]);
    y[i + 6] = group_broadcast(x[i], 2 - local_id.x);
    if (group_any(x[i] > 4.0)) {
        y[i + 9] = group_max(x[i]);
    }
}
