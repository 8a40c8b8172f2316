// A jump stands between a copy and its wait, in a loop that may be turned into steps.
program c workgroup(4) grid(2) {
    in a : u32[64];
    out y : u32[64];
    private p : u32[1];

    for (i in global_id.x .. 40 step global_size.x) {
        async_load(a, p, i * 4, 4, "t");
        if (i % 3 == 0) {
            continue;
        }
        async_wait("t");
        y[i] = p[0] + 1;
    }
}
