// Rows of lanes that stay inside of memory, leave it at either end, or wrap; and an index that a
// branch keeps inside, whose load must not move in front of it.
program rows workgroup(16) grid(5) {
    in    n : u32[8];
    in    x : u32[53];
    in    at : u32[80];
    inout b : u32[70];
    inout c : u32[70];
    out   s : u32[80];
    out   t : u32[80];

    let i = global_id.x;
    let far = n[0] % 70;
    t[i] = x[i] + x[i - 3] + 2 * x[i + 3] + 3 * x[2 * i] + 5 * x[52 - i] + 7 * x[i * 17] + 11 * x[i + 4294967290];
    if (i % 5 != 1) {
        let near = i + far;
        b[near] = x[near] + x[far];
        if (at[i] % 60 < 53) {
            let there = at[i] % 60;
            let kept = x[there];
            s[i] = kept + x[there + 1] + x[i];
        }
    }
    for (k in 0 .. n[1] % 4) {
        s[i] = s[i] + x[i + 8] * x[i + k];
        atomic_add(c[i + 1], 0);
    }
    let old = atomic_max(c[i - 60], i);
    if (i < 77) {
        s[i] = s[i] + u32(old != 0 || i < 60);
    }
    if (atomic_min(c[i - 60], 7) < 9 && i < 75) {
        t[i] = t[i] + 1;
    }
}
