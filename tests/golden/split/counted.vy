// A loop whose count is known before anything runs: the schedule asks nobody.
program counted workgroup(4) elements(8) {
    inout a : u32[8];
    inout b : u32[8];
    for (k in 0 .. 500) {
        b[global_id.x] = a[7 - global_id.x] + k;
        grid_sync;
        a[global_id.x] = b[7 - global_id.x] + 1;
        grid_sync;
    }
}
