// After Parboil stencil: seven points, planes by turns.
program p workgroup(4, 4) grid(2, 2) {
    inout   a : u32[8 * 8 * 6];
    scratch b : u32[8 * 8 * 6];

    let x = global_id.x;
    let y = global_id.y;
    for (t in 0 .. 3) {
        for (z in 0 .. 6) {
            let i = (z * 8 + y) * 8 + x;
            let inside = x > 0 && x < 7 && y > 0 && y < 7 && z > 0 && z < 5;
            b[i] = inside ? a[i - 1] + a[i + 1] + a[i - 8] + a[i + 8] + a[i - 64] + a[i + 64] - 6 * a[i] : a[i];
        }
        swap(a, b);
    }
}
