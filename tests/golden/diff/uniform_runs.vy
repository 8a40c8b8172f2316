// Loops that surely run hold the barriers that conditions need.
program p workgroup(64) grid(4) {
    inout f : u32[4];
    out   o : u32[256];

    if (global_id.x == 0) {
        f[0] = 2;
    }
    for (let s = 128; s > 0; s = s / 2) {
        grid_sync;
    }
    while (f[0] > 0) {
        grid_sync;
        if (global_id.x == 0) {
            f[0] -= 1;
        }
        for (i in 0 .. global_size.x step 64) {
            grid_sync;
        }
    }
    o[global_id.x] = f[0];
}
