program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    fn none() -> u32 {
        u[0] = 1;
    }
    u[0] = none();
}
// expect: 5:5: error[V260] `none` returns no value
