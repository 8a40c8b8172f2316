program p workgroup(64) grid(4) {
    out u : u32[256];

    let i = global_id.x;
    let j = local_id.x;
    u[i] = j;
    if (i - j == 64) {
        barrier;
        grid_sync;
    }
}
// expect: 9:9: error[V010] not all lanes of the grid come to this grid_sync together: the condition at line 7 varies
// expect: 7:9: note this condition is not the same for all lanes: it depends on `i`
// expect: 4:5: note `i` varies: its value here depends on `global_id.x`
