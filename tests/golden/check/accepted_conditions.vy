program p workgroup(64) grid(4) {
    param rounds : u32;
    in  a : u32[];
    out o : u32[len(a)];
    workgroup t : u32[64];

    fn all(end : u32, step : u32) {
        for (i in global_id.x .. end step step) {
            grid_sync;
        }
    }
    for (i in global_id.x .. rounds * global_size.x step global_size.x) {
        grid_sync;
        o[i] = a[i];
    }
    let s = global_size.x;
    let most = s * (len(a) - 2 * num_groups.x + 1);
    for (i in global_id.x .. most step s) {
        grid_sync;
    }
    all(7 * s, s);
    for (i in local_id.x .. rounds * 64 step 64) {
        barrier;
        t[local_id.x] = i;
    }
    for (i in global_id.x .. rounds * global_size.x step global_size.x) {
        o[i] = a[i]; // nobody waits: no condition
    }
    for (i in global_id.x .. len(a) / s * s step s) {
        grid_sync; // whatever the numbers are
    }
}
// expect: 12:5: note all lanes make the same trips only if rounds * global_size.x fits u32: a dispatch where it does not is refused
// expect: 18:5: note all lanes make the same trips only if (len(a) - 2 * num_groups.x + 1) * global_size.x fits u32: a dispatch where it does not is refused
// expect: 8:9: note all lanes make the same trips only if 7 * global_size.x fits u32: a dispatch where it does not is refused
// expect: 22:5: note all lanes make the same trips only if rounds * 64 fits u32: a dispatch where it does not is refused
