program p workgroup(64) elements(64) {
    inout dot : u32[2];

    let old = dot[0];
    dot[1] = 1;
    if (old == 0) {
        grid_sync;
    }
    let next = dot[1];
    if (next == 0) {
        grid_sync;
    }
}
// expect: 11:9: error[V010] not all lanes of the grid come to this grid_sync together: the condition at line 10 varies
// expect: 10:9: note this condition is not the same for all lanes: it depends on `next`
// expect: 9:5: note `next` varies: its value here loads from `dot`, which is written at line 5 with no grid_sync between
