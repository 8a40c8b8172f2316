program p workgroup(64) elements(64) {
    out a : u32[len(b)];
    out b : u32[len(a) + 1];

    a[0] = b[0];
}
// expect: 3:17: error[V243] the size of `a` depends on itself
