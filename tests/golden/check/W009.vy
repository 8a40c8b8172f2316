program p workgroup(64) elements(64) {
    in        a : u32[64];
    out       o : u32[64];
    scratch   c : u32[4];
    workgroup t : u32[32];

    fn put(i : u32, v : u32) {
        t[i] = v;
    }

    let n = 64;
    let x = a[n] + a[n - 1];
    put(local_id.x, x);
    put(local_id.x + 32, x);
    if (local_id.x == 0) {
        atomic_add(c[n / 16], t[0]);
    }
    for (i in 4 .. 8) {
        c[i] = 1;
        c[i - 4] = 1;
    }
    o[global_id.x] = x + c[local_id.x + 1];
}
// expect: 8:9: warning[W009] `t` has 32 elements, and this index is at least 32
// expect: 12:13: warning[W009] `a` has 64 elements, and this index is 64
// expect: 16:9: warning[W009] `c` has 4 elements, and this index is 4
// expect: 19:9: warning[W009] `c` has 4 elements, and this index is at least 4
