program p workgroup(64) elements(128) {
    inout f : f32[64];
    scratch g : f32[64];

    if (local_id.x == 0) {
        swap(f, g);
    }
}
// expect: 6:9: error[V010] not all lanes of the grid come to this swap together: the condition at line 5 varies
// expect: 5:9: note this condition is not the same for all lanes: it depends on `local_id.x`
