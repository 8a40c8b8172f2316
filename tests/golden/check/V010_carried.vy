program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    let x = 0;
    for (i in 0 .. 4) {
        if (x == 0) {
            barrier;
        }
        x = u[global_id.x];
    }
}
// expect: 8:13: error[V010] not all lanes of the workgroup come to this barrier together: the condition at line 7 varies
// expect: 7:13: note this condition is not the same for all lanes: it depends on `x`
// expect: 10:9: note `x` varies: its value here depends on `global_id.x`
