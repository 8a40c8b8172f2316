// elementary
// A function in a condition, a function of two, an operand that is read once.
program elementary workgroup(64) {
    in x : f32[];
    out y : f32[len(x)];
    let t = x[global_id.x];
    while (inverse_sqrt(t) > 0.5) {
        t = t + atan(x[global_id.x + 1]);
    }
    y[global_id.x] = exp(t) * sinh(t);
}
