// Many small tridiagonal systems, one for each lane, interleaved: forward, then back.
program tridiagonal workgroup(128) elements(systems) {
    param   systems : u32 = 100;
    param   size    : u32 = 16;
    in      right   : f32[systems * size];
    out     x       : f32[systems * size];
    scratch ratio   : f32[systems * size];

    let i = global_id.x;
    if (i < systems) {
        let c = 0.0;
        let d = 0.0;
        for (k in 0 .. size) {
            let scale = 1.0 / (4.0 - c);
            c = scale;
            d = (right[k * systems + i] + d) * scale;
            ratio[k * systems + i] = c;
            x[k * systems + i] = d;
        }
        let last = 0.0;
        for (back in 0 .. size) {
            let k = size - 1 - back;
            last = fma(ratio[k * systems + i], last, x[k * systems + i]);
            x[k * systems + i] = last;
        }
    }
}
