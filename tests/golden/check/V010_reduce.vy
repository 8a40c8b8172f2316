program p workgroup(64) elements(128) {
    inout u : u32[128];

    if (local_id.x > 3) {
        u[0] = group_add(u[1]);
    }
    if (group_id.x > 0) {
        u[2] = group_max(u[3]);
        u[3] = grid_max(u[3]);
    }
    while (group_any(u[global_id.x] > 3)) {
        grid_sync;
    }
    while (grid_any(u[global_id.x] > 3)) {
        grid_sync;
    }
}
// expect: 5:16: error[V010] not all lanes of the workgroup come to this group_add together: the condition at line 4 varies
// expect: 4:9: note this condition is not the same for all lanes: it depends on `local_id.x`
// expect: 9:16: error[V010] not all lanes of the grid come to this grid_max together: the condition at line 7 varies
// expect: 7:9: note this condition is not the same for all lanes: it depends on `group_id.x`
// expect: 12:9: error[V010] not all lanes of the grid come to this grid_sync together: the condition at line 11 varies
// expect: 11:5: note this condition is not the same for all lanes: it depends on `_3`
// expect: 11:12: note `_3` varies: it is the result of an operation of the workgroup
