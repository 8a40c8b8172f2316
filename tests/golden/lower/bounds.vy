// bounds
// What is proven inside stays as it is; the rest is tested.
program bounds workgroup(64) elements(len(x)) {
    in      x     : u32[];
    in      limit : u32[];
    out     y     : u32[len(x)];
    out     count : u32[4];
    scratch half  : f32[len(x) / 2];

    let i = global_id.x;
    if (i >= len(x)) {
        exit;
    }
    y[i] = x[i] + x[i + 1];
    y[x[i]] = x[x[i] + i];
    half[i] = half[i / 2];
    while (x[i] < limit[i]) {
        let old = atomic_add(count[x[i]], 1);
        atomic_max(count[old & 3], i);
        y[i] = y[i] + old;
        i = i + 1;
    }
}
