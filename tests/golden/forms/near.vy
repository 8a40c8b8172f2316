// Groups with rows of eight lanes, loops that vary in memory that is near, atomics that others see.
program near workgroup(8, 8) {
    in        a    : u32[];
    out       b    : u32[len(a)];
    out       c    : u32[64];
    out       d    : u32[len(a)];
    workgroup t    : u32[64];
    private   best : u32[4];

    let at = local_id.y * 8 + local_id.x;
    let here = (group_id.y * num_groups.x + group_id.x) * 64 + at;
    t[at] = a[here];
    barrier;
    let sum = 0;
    for (k in 0 .. 8) {
        sum = sum + t[k * 8 + local_id.x];
    }
    d[here] = sum; // a part of a line
    barrier;
    let low = 0;
    let high = 63;
    while (low < high) { // in workgroup memory
        let mid = (low + high) / 2;
        if (t[mid] < sum) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    while (low > 3 && best[low % 4] < 9) { // in private memory
        best[low % 4] = low;
        low = low - t[low];
    }
    b[here] = low;
    barrier;
    while (t[low] < a[low]) { // in a buffer, too
        low = low + 1;
    }
    atomic_add(c[low], 1, relaxed);
}
