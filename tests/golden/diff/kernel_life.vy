// A game of life on a torus until nothing changes, with one flag for each of three rounds.
program p workgroup(8, 8) grid(2, 2) {
    inout   a     : u32[256];
    scratch b     : u32[256];
    scratch still : u32[3];

    let x = global_id.x;
    let y = global_id.y;
    a[16 * y + x] = a[16 * y + x] & 1;
    grid_sync;
    for (t in 0 .. 8) {
        let n = 0;
        for (k in 0 .. 9) {
            n += a[(y + k / 3 + 15) % 16 * 16 + (x + k % 3 + 15) % 16];
        }
        let now = a[16 * y + x];
        let next = n == 3 || n == 4 && now == 1 ? 1 : 0;
        b[16 * y + x] = next;
        if (next != now) {
            atomic_or(still[t % 3], 1);
        }
        if (x + y == 0) {
            still[(t + 1) % 3] = 0;
        }
        swap(a, b);
        if (still[t % 3] == 0) {
            break;
        }
    }
}
