// Groups that have ended are absent when values of groups are combined, each time anew.
program p workgroup(3) grid(5) {
    out y : f32[15];
    out z : f32[15];
    out n : u32[15];

    let i = global_id.x;
    for (k in 0 .. 4) {
        if (group_id.x == k || i % 7 == k) {
            exit;
        }
        let v = 1.0 / f32(i + k + 1);
        y[i] = grid_add(v);
        z[i] = grid_scan_add(v) + grid_max(v);
        n[i] = grid_scan_add(i) + grid_min(i);
    }
}
