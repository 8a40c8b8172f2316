// Atomics on workgroup memory, which are plain where one thread runs the group. Each lane has its own
// element, so that what they give back does not depend on who comes first.
program atomics workgroup(32) grid(2) {
    in        x : u32[64];
    out       a : u32[64];
    out       b : i32[64];
    out       c : f32[64];
    out       d : u64[64];
    out       total : u32[2];
    workgroup w : u32[32];
    workgroup v : i32[32];
    workgroup f : f32[32];
    workgroup l : u64[32];
    workgroup all : u32[1];

    let me = local_id.x;
    let i = global_id.x;
    w[me] = x[i];
    v[me] = i32(x[i] % 1000);
    f[me] = f32(x[i] % 77);
    l[me] = u64(x[i]);
    barrier;
    let seen = atomic_add(w[me], 4294967290);
    seen = seen ^ atomic_cas(w[me], seen - 6, 17);
    seen = seen ^ atomic_cas(w[me], 18, 19);
    seen = seen ^ atomic_exchange(w[me], x[63 - i]);
    seen = seen ^ atomic_sub(w[me], 5) ^ atomic_and(w[me], 65535) ^ atomic_or(w[me], 768) ^ atomic_xor(w[me], 257);
    seen = seen ^ atomic_min(w[me], 40000) ^ atomic_max(w[me], 300);
    let whole = atomic_add(v[me], 2147483647);
    whole = whole ^ atomic_min(v[me], -5) ^ atomic_max(v[me], -9) ^ atomic_sub(v[me], 2147483647);
    let part = atomic_add(f[me], 0.25);
    let wide = atomic_add(l[me], u64(18446744073709551615));
    wide = wide ^ atomic_max(l[me], u64(77)) ^ atomic_exchange(l[me], u64(3));
    atomic_add(all[0], x[i] % 8);
    barrier;
    a[i] = seen ^ w[me];
    b[i] = whole ^ v[me];
    c[i] = part + f[me];
    d[i] = wide ^ l[me];
    if (me == 0) {
        total[group_id.x] = all[0];
    }
}
