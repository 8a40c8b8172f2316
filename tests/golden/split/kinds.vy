// Every kind of carry, and every construct that a schedule can have to follow.
program kinds workgroup(4) elements(8) {
    inout     data   : u32[8];
    out       result : u64[8];
    workgroup tile   : u32[4];
    private   seen   : f32[3];
    param     limit  : u32 = 3;
    param     fancy  : u32 = 1;

    let i = global_id.x;
    let wide = u64(data[i]) << 3; // 64 bits for each lane
    let near = (i + 1) % 8; // cheap: computed again
    let head = data[group_id.x * 4]; // the same for a group
    tile[local_id.x] = data[i];
    seen[i % 3] = f32(i) * 0.5;
    if (data[i] == 5) {
        exit;
    }
    grid_sync; // one launch is enough for both sides, the groups wait
    tile[local_id.x ^ 1] = tile[local_id.x ^ 1] + 1;
    grid_sync;
    for (k in 1 .. limit) {
        wide = wide + u64(data[near]);
        grid_sync;
        if (fancy != 0) {
            data[i] = data[i] + tile[local_id.x] + k;
            grid_sync;
            if (k == 2) {
                break;
            }
        } else {
            grid_sync;
            data[i] = u32(wide);
        }
    }
    grid_sync;
    result[i] = wide + u64(seen[i % 3]) + u64(head) + u64(data[7 - i]);
    grid_sync;
}
