// A bool array that a copy filled is carried as it is, over the border of two buffers.
program p workgroup(1) grid(1) {
    inout a : u32[1];
    in    b : i32[1];
    private c : bool[3];

    async_load(b, c, 0, 1, "copy");
    async_wait("copy");
    grid_sync;
    a[0] = u32(c[1]);
}
