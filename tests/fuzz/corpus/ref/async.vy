program copies workgroup(1) {
    inout s : u32[]; out r : u32[64]; inout b : u8[]; private p : u32[4]; workgroup w : u32[2];
    async_load(s, p, 24, 16, "tail");
    grid_sync;
    async_wait("tail");
    r[1] = p[0]; r[2] = p[1];
    async_store(p, b, 6, 100, "clip"); async_wait("clip");
    async_load(b, w, 1, 3, "odd"); async_wait("odd");
    r[4] = w[0];
    async_load(s, p, 0, 16, "dropped"); exit; async_wait("dropped");
}
