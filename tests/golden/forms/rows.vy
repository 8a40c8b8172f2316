// Segments that share nothing within a group: lanes of a row are one range.
program rows workgroup(24) {
    in a : u32[];
    in first : u32[len(a) + 1];
    inout b : u32[len(a)];
    inout sum : u32[1];
    out   c : u32[len(a)];
    let i = global_id.x;
    if (i > 0 && i < len(a) - 1) { // a guard around all that has effects
        b[i] = a[i - 1] * 3 + a[i + 1];
    }
    grid_sync;
    if (i < len(a)) { // a loop that makes the same trips in all lanes
        let s = 0;
        for (k in 0 .. 8) {
            s = s + b[(i + k) % len(a)];
        }
        if (s % 3 == 0) { // lanes part
            b[i] = s;
        }
    }
    grid_sync;
    if (i < len(a)) { // trips that vary
        let s = 0;
        for (k in first[i] .. first[i + 1]) {
            s = s + a[k];
        }
        b[i] = s;
    }
    grid_sync;
    if (i < len(a)) { // one sum
        atomic_add(sum[0], b[i]);
    }
    grid_sync;
    if (i < len(a)) { // many
        atomic_add(b[a[i]], 1);
    }
    grid_sync;
    if (i < len(a)) { // the old value is asked for
        b[i] = atomic_max(b[i], 3) + 1;
    }
    grid_sync;
    if (i < len(a)) { // it is only stored: past the caches
        c[i] = b[i] * a[i];
    }
    grid_sync;
    if (i > 2 && i < len(a)) { // in place
        b[i] = b[i] * a[i] + b[0];
    }
    grid_sync;
    if (i < len(a)) { // clamped
        let sum3 = 0;
        for (k in 0 .. 3) {
            sum3 = sum3 + a[min(max(i + k, 1) - 1, len(a) - 1)];
        }
        c[i] = sum3;
    }
    grid_sync;
    if (i < len(a) && b[i] == 77) {
        trap("it is 77", i);
    }
}
