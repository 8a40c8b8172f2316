program p workgroup(64) grid(4) {
    param rounds : u32;
    in  a : u32[];
    out o : u32[len(a)];

    // A load is not known before the dispatch, the step is another one, the end is no product.
    for (i in global_id.x .. a[0] * global_size.x step global_size.x) {
        grid_sync;
    }
    for (i in global_id.x .. rounds * global_size.x step 2 * global_size.x) {
        grid_sync;
    }
    for (i in global_id.x .. rounds + global_size.x step global_size.x) {
        grid_sync;
    }
    for (i in global_id.x .. rounds * global_size.y step global_size.y) {
        grid_sync;
    }
}
// expect: 8:9: error[V010] not all lanes of the grid come to this grid_sync together: the condition at line 7 varies
// expect: 7:5: note this condition is not the same for all lanes: it depends on `global_id.x`
// expect: 11:9: error[V010] not all lanes of the grid come to this grid_sync together: the condition at line 10 varies
// expect: 10:5: note this condition is not the same for all lanes: it depends on `global_id.x`
// expect: 14:9: error[V010] not all lanes of the grid come to this grid_sync together: the condition at line 13 varies
// expect: 13:5: note this condition is not the same for all lanes: it depends on `global_id.x`
// expect: 17:9: error[V010] not all lanes of the grid come to this grid_sync together: the condition at line 16 varies
// expect: 16:5: note this condition is not the same for all lanes: it depends on `global_id.x`
