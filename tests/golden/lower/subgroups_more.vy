// subgroups
// A scan, a vote and shuffles by distance; all lanes are there, and the last subgroup is not whole.
program subgroups_more workgroup(40) {
    in x : f32[];
    out y : f32[40];
    let before = subgroup_scan_add(x[global_id.x]);
    if (subgroup_all(before < 8.0)) {
        before = 1.0;
    }
    let near = subgroup_shuffle_xor(before, 1) - subgroup_shuffle_up(before, 2);
    let far = subgroup_shuffle_down(near, u32(before));
    y[local_id.x] = subgroup_any(near > 0.0) ? near : far;
}
