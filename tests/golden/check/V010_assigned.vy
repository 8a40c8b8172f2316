program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    let x = 0;
    if (global_id.x == 0) {
        x = 1;
    }
    if (x == 1) {
        barrier;
    }
}
// expect: 10:9: error[V010] not all lanes of the workgroup come to this barrier together: the condition at line 9 varies
// expect: 9:9: note this condition is not the same for all lanes: it depends on `x`
// expect: 6:9: note `x` varies: it is assigned under this condition, which depends on `global_id.x`
