// float_atomics
// Memory with atomics on floats is memory of their bits; other floats stay what they are.
program atomics workgroup(64) elements(len(x)) {
    in        x     : f32[];
    inout     least : f32[4];
    scratch   other : f32[4];
    workgroup sum   : f64[2];
    out       y     : f32[len(x)];

    let i = global_id.x;
    let v = x[i];
    atomic_add(sum[local_id.x & 1], f64(v));
    let old = atomic_min(least[i & 3], v, relaxed);
    atomic_store(least[4], old);
    barrier;
    least[i & 3] = least[0] + f32(sum[0]);
    grid_sync;
    swap(least, other);
    y[i] = atomic_load(other[1]) + atomic_exchange(other[i & 3], old);
}
