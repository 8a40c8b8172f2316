program p workgroup(64) elements(64) {
    in        x : f32[4096];
    out       y : f32[4096];
    workgroup t : f32[2048];

    let i = global_id.x;
    t[local_id.x * 32] = x[i * 4]; // four neighbours share a line
    barrier;
    for (k in 0 .. 32) {
        y[k * 64 + i] = x[i * 32 + k] + t[local_id.x * 32];
    }
    y[i * 16] = 1.0;
    y[i * i] = 2.0; // lanes may be anywhere
}
// expect: 10:25: warning[W103] lanes side by side access elements of `x` that are 32 apart, each in a cache line of its own
// expect: 12:5: warning[W103] lanes side by side access elements of `y` that are 16 apart, each in a cache line of its own
