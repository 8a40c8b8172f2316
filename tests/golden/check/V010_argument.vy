program p workgroup(64) elements(len(a)) {
    inout a : u32[];
    inout b : u32[];

    fn advance(from : in u32[], to : inout u32[]) {
        to[global_id.x] = from[0] + 1;
        if (from[0] > 4) {
            grid_sync;
        }
    }

    advance(a, b);
    advance(b, b);
}
// expect: 8:13: error[V010] not all lanes of the grid come to this grid_sync together: the condition at line 7 varies
// expect: 7:13: note this condition is not the same for all lanes: it loads from `b`, which is written at line 6 with no grid_sync between
