// Distances beyond the subgroup and beyond u32, lanes that have ended, all types.
program subgroup_distances workgroup(72) grid(2) {
    in  d : u32[9];
    in  x : f32[144];
    out a : u32[1296];
    out b : f64[1296];
    out c : f32[144];
    out v : u32[144];

    let me = global_id.x;
    if (local_id.x % 5 == 2) {
        exit;
    }
    for (k in 0 .. 9) {
        let n = k < 3 ? k * 15 : 0 - k;
        let up = subgroup_shuffle_up(me + 1, n);
        let down = subgroup_shuffle_down(f64(me) + 0.5d, n);
        let turned = subgroup_shuffle_xor(x[me], d[k]);
        let flag = subgroup_shuffle_xor(me % 3 == 1, k * 5);
        a[me * 9 + k] = up + u32(flag) * 1000;
        b[me * 9 + k] = down + f64(turned);
    }
    c[me] = subgroup_scan_add(x[me]) + f32(subgroup_scan_add(i64(me) - 20));
    v[me] = u32(subgroup_any(x[me] > 0.9)) * 2 + u32(subgroup_all(x[me] < 0.99)) + u32(subgroup_all(local_id.x % 5 != 2)) * 4;
}
