program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    let x = f[global_id.x];
    let _y = x;
    let old = atomic_add(u[global_id.x], 1);
    let z = 0;
    z = 3;
    f[global_id.x] = 1.0;
}
// expect: 7:15: warning[W002] `old` is never used
// expect: 8:5: warning[W002] `z` is never used
