program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    let x = f[global_id.x];
    f[global_id.x] = fma(x, x, 1.0) + x * x - 3.0 * x;
    u[global_id.x] = u[global_id.x] * 3 + 1;
}
// expect: 6:22: warning[W101] a product and a sum, rounded twice: `fma` rounds once and is faster
// expect: 6:22: warning[W101] a product and a sum, rounded twice: `fma` rounds once and is faster
