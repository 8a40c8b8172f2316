// Without a grid barrier there is one segment and nothing to carry.
program plain workgroup(32) elements(64) {
    inout x : f32[64];
    let a = x[global_id.x];
    barrier;
    x[global_id.x] = a * 2.0;
}
