// One grid barrier, a value of each lane across it.
program one_barrier workgroup(4) elements(16) {
    inout x : u32[16];
    out y : u32[16];
    let mine = x[global_id.x] * 3 + 1;
    x[global_id.x] = mine;
    grid_sync;
    y[global_id.x] = mine * 5 + x[15 - global_id.x];
}
