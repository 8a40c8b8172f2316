program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    fn nothing() {
        u[0] = 1;
    }
    u[0] = nothing();
}
// expect: 8:12: error[V225] `nothing` gives no value
