// async
// A tile that is read at the wait, a copy by bytes, one whose source changes, bits of bools.
program copies workgroup(64) {
    in x : f32[];
    inout flags : bool[64];
    out y : f32[len(x)];
    out bytes : u8[len(x) * 4];
    param shift : u32 = 0;
    workgroup tile : f32[64];

    async_load(x, tile, group_id.x * 256, 256, "tile");
    barrier;
    async_wait("tile");
    barrier;
    y[global_id.x] = tile[63 - local_id.x];
    if (global_id.x == 0) {
        async_store(x, bytes, shift, 4 * len(x), "bytes");
        async_wait("bytes");
        async_load(flags, flags, 128, 80, "flags");
        flags[40] = !flags[41];
        async_wait("flags");
    }
}
