// Sums of groups by a tree in workgroup memory; lanes of later halves end early.
program tree workgroup(8, 2) grid(3, 2) {
    in        x    : f32[96];
    out       sums : f32[6];
    workgroup tile : f32[16];
    private   seen : f32[2];

    let i = local_id.y * 8 + local_id.x;
    let group = group_id.y * num_groups.x + group_id.x;
    tile[i] = x[group * 16 + i];
    seen[i & 1] = tile[i];
    let half = 8;
    while (half > 0) {
        barrier;
        if (i >= 2 * half) {
            exit;
        }
        if (i < half) {
            tile[i] = tile[i] + tile[i + half];
        }
        half = half / 2;
    }
    barrier;
    if (i == 0) {
        sums[group] = tile[0] + seen[0] - seen[0];
    }
}
