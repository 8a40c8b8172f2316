program p workgroup(64) elements(64) {
    in f : u32[64];
    inout u : u32[64];
    fn clear(b : inout u32[], i : u32) {
        b[i] = 0;
    }

    clear(u, 0);
    clear(f, 0);
}
// expect: 9:11: error[V281] the argument `b` is inout, which `f` can't be
