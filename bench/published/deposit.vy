// Particles give their charge to the four points of a grid around them, on a torus, in whole numbers.
program deposit workgroup(256) elements(65536) {
    in    x      : u32[]; // 32 bits all around
    in    y      : u32[len(x)];
    param bits   : u32 = 4; // 2^bits points along each axis
    out   charge : u32[1 << (2 * bits)];

    let mask = (1 << bits) - 1;
    for (i in global_id.x .. len(x) step global_size.x) {
        let cx = x[i] >> (32 - bits);
        let cy = y[i] >> (32 - bits);
        let wx = (x[i] >> (24 - bits)) & 255;
        let wy = (y[i] >> (24 - bits)) & 255;
        let row = cy << bits;
        let below = ((cy + 1) & mask) << bits;
        let right = (cx + 1) & mask;
        atomic_add(charge[row + cx], (256 - wx) * (256 - wy), relaxed);
        atomic_add(charge[row + right], wx * (256 - wy), relaxed);
        atomic_add(charge[below + cx], (256 - wx) * wy, relaxed);
        atomic_add(charge[below + right], wx * wy, relaxed);
    }
}
