// One grid barrier that stays by every rule of the optimiser, a value of each lane across it.
program one_barrier workgroup(4) elements(16) {
    in    order : u32[16];
    inout x     : u32[16];
    out   y     : u32[16];
    let at = select(global_id.x < len(x), order[global_id.x], len(x));
    let mine = x[at] * 3 + 1;
    x[at] = mine;
    grid_sync;
    y[global_id.x] = mine * 5 + x[15 - global_id.x];
    x[15 - global_id.x] = mine;
}
