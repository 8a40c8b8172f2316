// Loops of which all lanes make the same trips, with neighbouring elements for neighbouring lanes: they stand
// around the loops over lanes, and variables of lanes are kept in arrays. Some rows leave their memory.
program turned workgroup(64) grid(3) {
    in  x : u32[150];
    in  y : u32[40];
    out a : u32[192];
    out b : u32[500];
    out c : u32[192];
    out d : f32[192];

    let i = global_id.x;
    let n = 5 + x[0] % 20;
    let scaled = x[i] * 3 + y[i % 7];
    let sum = 5;
    let mix = 1;
    for (k in 0 .. n) {
        let z = x[i + k] ^ scaled;
        sum = sum * 31 + z;
        mix = mix ^ (z + y[k * 3]);
    }
    a[i] = sum;
    for (k in 2 .. 30 step 7) {
        b[i + k * 20] = sum + k;
        sum = sum + 1;
    }
    if (i < n * 7) {
        let t = mix;
        for (k in 1 .. n) {
            t = t + x[i + k * 9];
        }
        c[i] = t;
    }
    let part = f32(sum % 100);
    for (k in 0 .. 9) {
        part = part * 0.5 + f32(y[k]);
    }
    d[i] = part;
}
