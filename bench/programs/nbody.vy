// Gravity of all on all with softening, by tiles: a workgroup brings 256 bodies into its memory, every
// lane adds their pull on its own body. `fma` is in the source, as C compilers contract the peers.
program nbody workgroup(256) elements(len(m)) {
    in        m     : f32[]; // masses; as many as a multiple of 256
    in        start : f32[3 * len(m)]; // all x, all y, all z
    out       at    : f32[3 * len(m)];
    out       speed : f32[3 * len(m)];
    param     steps : u32 = 10;
    param     dt    : f32 = 0.001;
    param     soft  : f32 = 0.01; // the square of the softening length
    workgroup tx    : f32[256];
    workgroup ty    : f32[256];
    workgroup tz    : f32[256];
    workgroup tm    : f32[256];

    let n = len(m);
    let i = global_id.x;
    let l = local_id.x;
    at[i] = start[i];
    at[n + i] = start[n + i];
    at[2 * n + i] = start[2 * n + i];
    grid_sync;
    for (k in 0 .. steps) {
        let x = at[i];
        let y = at[n + i];
        let z = at[2 * n + i];
        let ax = 0.0;
        let ay = 0.0;
        let az = 0.0;
        for (first in 0 .. n step 256) {
            barrier;
            tx[l] = at[first + l];
            ty[l] = at[n + first + l];
            tz[l] = at[2 * n + first + l];
            tm[l] = m[first + l];
            barrier;
            for (j in 0 .. 256) {
                let dx = tx[j] - x;
                let dy = ty[j] - y;
                let dz = tz[j] - z;
                let d = fma(dx, dx, fma(dy, dy, fma(dz, dz, soft)));
                let pull = tm[j] / (d * sqrt(d));
                ax = fma(pull, dx, ax);
                ay = fma(pull, dy, ay);
                az = fma(pull, dz, az);
            }
        }
        grid_sync;
        speed[i] = fma(dt, ax, speed[i]);
        speed[n + i] = fma(dt, ay, speed[n + i]);
        speed[2 * n + i] = fma(dt, az, speed[2 * n + i]);
        at[i] = fma(dt, speed[i], x);
        at[n + i] = fma(dt, speed[n + i], y);
        at[2 * n + i] = fma(dt, speed[2 * n + i], z);
        grid_sync;
    }
}
