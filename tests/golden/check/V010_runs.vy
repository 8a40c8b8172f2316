program p workgroup(64) grid(4) {
    inout f : u32[4];

    if (global_id.x == 0) {
        f[0] = 2;
    }
    for (i in 64 .. global_size.x) {
        grid_sync;
    }
    if (f[0] > 0) {
        grid_sync;
    }
}
// expect: 11:9: error[V010] not all lanes of the grid come to this grid_sync together: the condition at line 10 varies
// expect: 10:9: note this condition is not the same for all lanes: it loads from `f`, which is written at line 5 with no grid_sync between
