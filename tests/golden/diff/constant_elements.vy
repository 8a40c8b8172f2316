// Elements with constant indices are told apart, loops that surely run hold barriers: conditions of
// the schedule load what is written next to them.
program p workgroup(32) grid(3) {
    const two = 1 + 1;
    in      a : u32[96];
    scratch dot : u32[3];
    out     o : u32[96];

    let i = global_id.x;
    let base = i - local_id.x;
    let it = 0;
    atomic_add(dot[0], a[i]);
    for (k in 0 .. two) {
        grid_sync;
    }
    do {
        if (dot[0] % 7 == 3) {
            atomic_add(dot[1], 5);
            grid_sync;
        }
        atomic_add(dot[two], a[base]);
        let old = dot[1];
        grid_sync;
        if (i == 0) {
            dot[0] += dot[two] + old;
            dot[1] = 0;
        }
        it += 1;
        grid_sync;
    } while (it < 4 || dot[0] % 5 != 0 && it < 30);
    o[i] = dot[0] + it + base;
    if (base == 32) {
        barrier;
        o[i] += 1;
    }
}
