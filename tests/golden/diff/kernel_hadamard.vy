// A fast transform: butterflies of growing reach, a barrier between stages.
program p workgroup(16) grid(2) {
    inout a : u32[64];

    for (let h = 1; h < 64; h <<= 1) {
        let i = global_id.x / h * (2 * h) + global_id.x % h;
        let x = a[i];
        let y = a[i + h];
        a[i] = x + y;
        a[i + h] = x - y;
        grid_sync;
    }
}
