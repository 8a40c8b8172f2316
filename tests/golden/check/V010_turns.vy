program p workgroup(64) elements(64) {
    scratch flag  : u32[2];
    param   trips : u32 = 5;

    for (it in 0 .. trips) {
        atomic_add(flag[it % 2], 1);
        if (global_id.x == 0) {
            flag[(it + 1) % 2] = 0;
        }
        grid_sync;
        if (flag[it % 2] == 7) {
            break;
        }
    }
}
// expect: 10:9: error[V010] not all lanes of the grid come to this grid_sync together: the condition at line 11 varies
// expect: 11:13: note this condition is not the same for all lanes: it loads from `flag`, which is written at line 8 with no grid_sync between
