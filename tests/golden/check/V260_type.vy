program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    fn wrong() -> u32 {
        return f[0];
    }
    u[0] = wrong();
}
// expect: 6:9: error[V260] `wrong` returns u32, not f32
