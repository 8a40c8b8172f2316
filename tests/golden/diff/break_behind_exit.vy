// No lane comes to the `break`, so it says nothing about what the lanes that live do.
program c workgroup(2) grid(2) {
    out y : u32[4];

    for (k in 0 .. 3) {
        grid_sync;
        if (global_id.x == k) {
            exit;
            break;
        }
        y[global_id.x] = y[global_id.x] + 1;
    }
}
