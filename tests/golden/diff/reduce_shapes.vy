// Groups of two axes, sizes that are no powers of two, types of 64 bits.
program p workgroup(5, 3) grid(3, 1, 2) {
    out y : f64[90];
    out z : u64[90];
    out s : i64[90];

    let i = (group_id.z * 3 + group_id.x) * 15 + local_id.y * 5 + local_id.x;
    let v = 1.0d / f64(i + 1);
    y[i] = grid_add(v) + grid_scan_add(v) + group_scan_add(v) * 3.0d + group_add(v);
    z[i] = grid_scan_add(u64(i)) + grid_xor(u64(i)) + group_broadcast(u64(i), 14 - i % 16);
    s[i] = grid_min(5l - i64(i)) + grid_max(i64(i)) + group_scan_total(i64(i));
}
