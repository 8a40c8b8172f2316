// After conjugateGradientMultiBlockCG: two dot products in one buffer, each cleared while the other is in use.
program p workgroup(16) grid(3) {
    in        b    : u32[48];
    out       x    : u32[48];
    scratch   r    : u32[48];
    scratch   d    : u32[50];
    scratch   q    : u32[48];
    scratch   dot  : u32[2];
    workgroup part : u32[16];

    let i = global_id.x;
    r[i] = b[i] & 255;
    d[i + 1] = b[i] & 255;
    grid_sync;
    for (k in 0 .. 4) {
        q[i] = 2 * d[i + 1] - d[i] - d[i + 2];
        part[local_id.x] = d[i + 1] * q[i];
        for (let s = 8; s > 0; s /= 2) {
            barrier;
            if (local_id.x < s) {
                part[local_id.x] += part[local_id.x + s];
            }
        }
        if (local_id.x == 0) {
            atomic_add(dot[0], part[0]);
        }
        grid_sync;
        if (dot[0] == 0) {
            break;
        }
        let alpha = dot[0] % 7 + 1;
        x[i] += alpha * d[i + 1];
        r[i] -= alpha * q[i];
        atomic_add(dot[1], r[i] * r[i]);
        grid_sync;
        let beta = dot[1] % 5;
        d[i + 1] = r[i] + beta * d[i + 1];
        grid_sync;
        if (i == 0) {
            dot[0] = 0;
            dot[1] = 0;
        }
        grid_sync;
    }
}
