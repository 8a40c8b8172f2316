program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];
    out   y : u32[64];

    u[global_id.x] = u32(f[global_id.x]);
}
// expect: 2:5: warning[W001] `f` is never written
// expect: 4:5: warning[W001] `y` is never written: it is given back as zeros
