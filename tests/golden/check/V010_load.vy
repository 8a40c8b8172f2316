program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    let more = 1;
    while (more != 0) {
        grid_sync;
        more = u[0];
        u[0] = 0;
    }
}
// expect: 7:9: error[V010] not all lanes of the grid come to this grid_sync together: the condition at line 6 varies
// expect: 6:12: note this condition is not the same for all lanes: it depends on `more`
// expect: 8:9: note `more` varies: its value here loads from `u`, which is written at line 9 with no grid_sync between
