// Types, operators, memory and names that need care in C.
program kinds workgroup(4) elements(8) {
    inout a        : i32[8];
    in    b        : u8[];
    inout register : f16[8];
    out   flags    : bool[8];
    out   sums     : u64[2];
    scratch half   : f32[len(b)];
    scratch least  : f32[2];
    workgroup tile : f64[4];
    param scale    : f32 = -1.5;
    const limit    = 7i;

    let int = global_id.x;
    let signed = a[int] / (a[7 - int] - limit);
    let shift = signed << u32(a[int]) >> 2;
    half[int + 1] = register[int] * scale;
    tile[local_id.x] = f64(b[int * 3]) - 0.5d;
    barrier;
    if (tile[3 - local_id.x] > 4.0d && int != 3) {
        trap("too large", int);
    }
    grid_sync;
    let near = min(half[int], sqrt(abs(half[7 - int])));
    register[int] = near;
    flags[int] = is_nan(near) || shift == -8i;
    a[int] = sat_mul(i32(near * 1e9), shift) + clz(signed);
    let old = atomic_max(sums[int % 3], u64(int) + 1ul);
    atomic_store(sums[1], old, relaxed);
    let lower = atomic_min(least[int % 2], near);
    half[int] = atomic_exchange(least[1], lower) + atomic_load(least[0]);
    for (k in int .. 8 step 3) {
        region "more" {
            if (old > u64(k)) {
                continue;
            }
            a[k % 8] = a[k % 8];
        }
    }
}
