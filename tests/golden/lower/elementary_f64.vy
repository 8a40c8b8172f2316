// elementary
// The same in f64, where words are wider, and the angle of a point.
program elementary_f64 workgroup(64) {
    in x : f64[];
    out y : f64[len(x)];
    out z : f32[len(x)];
    let t = x[global_id.x];
    y[global_id.x] = exp(t) * inverse_sqrt(t);
    z[global_id.x] = atan2(f32(t), 2.0);
}
