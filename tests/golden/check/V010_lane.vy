program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    if (global_id.x == 0) {
        barrier;
    }
}
// expect: 6:9: error[V010] not all lanes of the workgroup come to this barrier together: the condition at line 5 varies
// expect: 5:9: note this condition is not the same for all lanes: it depends on `global_id.x`
