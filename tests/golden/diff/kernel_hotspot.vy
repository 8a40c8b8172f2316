// After Rodinia hotspot: temperatures by turns in two buffers.
program p workgroup(8, 4) grid(2, 3) {
    in      power : u32[12 * 16];
    inout   t     : u32[12 * 16];
    scratch new   : u32[12 * 16];
    param   steps : u32 = 3;

    let x = global_id.x;
    let y = global_id.y;
    let i = y * 16 + x;
    for (k in 0 .. steps) {
        let n = y == 0 ? t[i] : t[i - 16];
        let s = y == 11 ? t[i] : t[i + 16];
        let w = x == 0 ? t[i] : t[i - 1];
        let e = x == 15 ? t[i] : t[i + 1];
        new[i] = (n + s + w + e) / 4 + power[i] % 16;
        swap(t, new);
    }
}
