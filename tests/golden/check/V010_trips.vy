program p workgroup(64) grid(4) {
    in  a : u32[];
    out o : u32[len(a)];

    for (i in global_id.x .. len(a) step global_size.x) {
        grid_sync;
        o[i] = a[i];
    }
    for (i in local_id.x .. 200 step 64) {
        barrier;
    }
}
// expect: 6:9: error[V010] not all lanes of the grid come to this grid_sync together: the condition at line 5 varies
// expect: 5:5: note this condition is not the same for all lanes: it depends on `global_id.x`
// expect: 10:9: error[V010] not all lanes of the workgroup come to this barrier together: the condition at line 9 varies
// expect: 9:5: note this condition is not the same for all lanes: it depends on `local_id.x`
