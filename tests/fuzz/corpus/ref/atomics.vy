program all workgroup(32) {
    inout r : u32[]; inout f : f32[]; inout d : i64[]; workgroup w : u32[4];
    let a = atomic_add(r[0], global_id.x);
    atomic_min(r[1], a + 5, relaxed);
    atomic_max(d[2], -3l);
    atomic_nand(r[3], 1 << (global_id.x & 31));
    atomic_add(f[0], 0.5);
    let o = atomic_cas(w[0], 0, 7);
    if (atomic_exchange(w[1], o, acq_rel) == 0) { trap("zero", 1); }
}
