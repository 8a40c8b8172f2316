// Atomics change one of two buffers that exchange places.
program p workgroup(4) grid(2) {
    inout a : f32[8];
    inout b : f32[8];

    let i = global_id.x;
    for (k in 0 .. 3) {
        atomic_max(a[i / 2], f32(i + k));
        grid_sync;
        b[i] = a[7 - i] + 1.0;
        swap(a, b);
    }
}
