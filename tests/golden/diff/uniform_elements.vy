// Elements of one memory are told apart: three flags with one barrier in a trip, two sizes by turns.
program p workgroup(64) elements(100) {
    in      order : u32[100];
    out     o     : u32[100];
    scratch flag  : u32[3];
    scratch size  : u32[2];
    param   trips : u32 = 5;

    for (it in 0 .. trips) {
        if (global_id.x < it) {
            atomic_add(flag[it % 3], order[0] + 1);
        }
        if (global_id.x == 0) {
            flag[(it + 1) % 3] = 0;
        }
        grid_sync;
        if (flag[it % 3] > 100) {
            break;
        }
    }
    let s = 0;
    if (global_id.x == 0) {
        size[s] = 3;
    }
    grid_sync;
    while (size[s] != 0) {
        if (global_id.x == 0) {
            size[s ^ 1] = size[s] - 1;
        }
        grid_sync;
        s = 1 - s;
    }
    o[global_id.x] = s;
}
