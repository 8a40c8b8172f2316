// Loads behind a guard, in conditions of loops, beside effects and across a barrier.
program p workgroup(32) grid(2) {
    in      a : u32[50];
    inout   c : u32;
    out     o : u32[64];
    scratch s : u32[64];

    let i = global_id.x;
    let mine = i < 50 ? a[i] : i > 60 ? 7 : 9;
    let k = 0;
    while (i + k < 50 && a[i + k] % 3 != 0) {
        k += 1;
    }
    s[i] = (k > 2 || a[k] == 1 ? mine : k) + atomic_add(c, 1) * 0;
    grid_sync;
    let j = i == 0 ? 63 : i - 1;
    if (atomic_add(c, 2) < 1000 && s[j] != 0) {
        o[i] = s[j] > 5 && s[63 - j] > 5 ? s[i] : k;
    }
}
