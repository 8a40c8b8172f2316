program p workgroup(64) grid(4) {
    in        size  : u32[256];
    inout     u     : u32[64];
    workgroup tile  : u32[64];
    workgroup total : u32;

    tile[local_id.x] = size[63 - local_id.x];
    if (local_id.x < 8) {
        atomic_add(total, size[global_id.x]);
    }
    barrier;
    for (i in 0 .. tile[3] + total) {
        grid_sync;
        u[local_id.x] = i;
    }
}
// expect: 13:9: error[V010] not all lanes of the grid come to this grid_sync together: the condition at line 12 varies
// expect: 12:5: note this condition is not the same for all lanes: it loads from workgroup memory `total`, which not all workgroups fill alike
