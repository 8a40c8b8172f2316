// subgroups
// A sum in the order of the language, a ballot and a shuffle; lanes that have ended take no part.
program subgroups workgroup(64) {
    in x : f32[];
    out y : f32[64];
    let sum = subgroup_add(x[global_id.x]);
    if (sum < 0.0) {
        exit;
    }
    let mask = subgroup_ballot(sum > 1.0);
    y[local_id.x] = subgroup_shuffle(sum, mask % 32) + f32(subgroup_local_id);
}
