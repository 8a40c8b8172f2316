program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    fn wait(x : u32) {
        if (x == 0) {
            return;
        }
        barrier;
    }
    wait(group_id.x);
    wait(global_id.x);
}
// expect: 9:9: error[V010] not all lanes of the workgroup come to this barrier together: the condition at line 6 varies
// expect: 6:13: note this condition is not the same for all lanes: it depends on `x`
// expect: 12:5: note `x` varies: its value here depends on `global_id.x`
