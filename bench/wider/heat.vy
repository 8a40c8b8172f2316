// Heat along a rod, explicit steps between two buffers, grid-stride.
program heat workgroup(256) elements(32768) {
    in      start : f32[];
    out     now   : f32[len(start)];
    scratch next  : f32[len(start)];
    param   steps : u32 = 10; // even

    let n = len(start);
    for (i in global_id.x .. n step global_size.x) {
        now[i] = start[i];
        next[i] = start[i];
    }
    grid_sync;
    for (pair in 0 .. steps / 2) {
        for (i in global_id.x + 1 .. n - 1 step global_size.x) {
            next[i] = now[i] + 0.25 * (now[i - 1] - 2.0 * now[i] + now[i + 1]);
        }
        grid_sync;
        for (i in global_id.x + 1 .. n - 1 step global_size.x) {
            now[i] = next[i] + 0.25 * (next[i - 1] - 2.0 * next[i] + next[i + 1]);
        }
        grid_sync;
    }
}
