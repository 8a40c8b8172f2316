// Values that are the same for all lanes, but computed by them: they hand them to the schedule.
program made workgroup(2) elements(4) {
    inout x : u32[4];
    param limit : u32 = 3;
    let m = 0;
    let wide = 1ul;
    if (x[0] > limit) {
        m = 1;
        wide = u64(x[1]) << 40;
    }
    let angle = sin(f32(limit));
    grid_sync;
    while (angle < 1.0) {
        x[global_id.x] = x[3 - global_id.x] + m + u32(wide >> 40);
        if (global_id.x == m) { exit; }
        grid_sync;
        angle = angle + exp(angle);
        m = m + 1;
    }
}
