// What an option on the mean of a price is worth, on each of many random ways: normal numbers by Box and
// Muller from a counter that is hashed.
program asian workgroup(128) elements(paths) {
    param paths : u32 = 100;
    param pairs : u32 = 4; // of steps
    in    seed  : u32[paths];
    out   worth : f32[paths];

    fn uniform(v : u32) -> f32 {
        let h = v * 0x9e3779b1;
        h = (h ^ (h >> 15)) * 0x85ebca77;
        h = (h ^ (h >> 13)) * 0xc2b2ae3d;
        return (f32((h ^ (h >> 16)) >> 8) + 0.5) * (1.0 / 16777216.0);
    }

    let i = global_id.x;
    if (i >= paths) {
        exit;
    }
    let state = seed[i];
    let price = 0.0; // its logarithm
    let sum = 0.0;
    for (k in 0 .. pairs) {
        let u = uniform(state + 2 * k);
        let v = uniform(state + 2 * k + 1);
        let far = 0.02 * sqrt(-2.0 * log(u));
        let turn = 6.2831853 * v;
        price = price + 0.0001 + far * cos(turn);
        sum = sum + exp(price);
        price = price + 0.0001 + far * sin(turn);
        sum = sum + exp(price);
    }
    worth[i] = max(100.0 * (sum / f32(2 * pairs)) - 95.0, 0.0);
}
