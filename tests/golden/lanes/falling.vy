// Indices that fall from lane to lane, or grow by nothing, by one and by three: each in a piece of its own, so that rows that
// stay inside of memory are told from others.
program falling workgroup(16) grid(5) {
    in  n : u32[8];
    in  x : u32[53];
    out r : u32[320];

    let i = global_id.x;
    if (i < 79) {
        r[i] = x[52 - i];
    }
    if (i < 78) {
        r[80 + i] = x[i - 5];
    }
    if (i < 77) {
        r[160 + i] = x[i * 3 + n[0] % 9];
    }
    if (i < 76) {
        r[240 + i] = x[n[1] % 60] + x[i + n[2] % 40];
    }
}
