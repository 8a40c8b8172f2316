// -0.0 where it is chosen by a comparison with 0.0: compilers may take the one for the other there.
program choice_of_minus_zero workgroup(1) elements(4) {
    in a : f64[4];
    out least : f64[4];
    out most : f64[4];
    out chosen : f32[4];
    inout met : f64[4];
    let x = f64(i32(global_id.x & 1) - 1) * a[global_id.x] * 0.0d;
    least[global_id.x] = min(x, -0.0d);
    most[global_id.x] = max(x, -0.0d);
    let y = f32(x);
    chosen[global_id.x] = select(y > 0.0, -0.0, y);
    atomic_store(met[global_id.x], x);
    atomic_min(met[global_id.x], -0.0d);
}
