program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    if (group_id.x == 0) {
        grid_sync;
    }
}
// expect: 6:9: error[V010] not all lanes of the grid come to this grid_sync together: the condition at line 5 varies
// expect: 5:9: note this condition is not the same for all lanes: it depends on `group_id.x`
