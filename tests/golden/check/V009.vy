program p workgroup(64) elements(64) {
    in n : u32[4];
    inout u : u32[64];

    atomic_add(n[0], 1);
}
// expect: 5:5: error[V009] atomics can't work on in `n`
