// What a device gets that has neither elementary functions nor async copies: only where they stand.
program wave workgroup(64) {
    in x : f32[];
    out y : f32[len(x)];
    scratch sum : f32[64];
    workgroup tile : f32[64];

    async_load(x, tile, group_id.x * 256, 256, "tile");
    async_wait("tile");
    sum[local_id.x] = tile[local_id.x];
    grid_sync;
    y[global_id.x] = exp(sum[63 - local_id.x]);
}
