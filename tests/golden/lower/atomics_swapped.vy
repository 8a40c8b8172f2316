// float_atomics
// What is swapped with memory of bits is memory of bits, though no atomic names it.
program atomics_swapped workgroup(4) grid(2) {
    inout a : f32[8];
    inout b : f32[8];

    atomic_max(a[global_id.x / 2], 1.0);
    swap(a, b);
}
