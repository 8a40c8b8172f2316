// After PERKS: a tile in workgroup memory over all steps, only its border through the buffer.
program p workgroup(16) grid(4) {
    inout     u    : u32[64];
    scratch   edge : u32[2 * 8];
    workgroup tile : u32[18];

    let l = local_id.x;
    let g = group_id.x;
    tile[l + 1] = u[global_id.x];
    for (t in 0 .. 5) {
        let side = (t & 1) * 8;
        barrier;
        if (l == 0) {
            edge[side + 2 * g] = tile[1];
            edge[side + 2 * g + 1] = tile[16];
        }
        grid_sync;
        if (l == 0) {
            tile[0] = g == 0 ? 0 : edge[side + 2 * g - 1];
            tile[17] = g == 3 ? 0 : edge[side + 2 * g + 2];
        }
        barrier;
        let next = tile[l] + 2 * tile[l + 1] + tile[l + 2];
        barrier;
        tile[l + 1] = next;
    }
    u[global_id.x] = tile[l + 1];
}
