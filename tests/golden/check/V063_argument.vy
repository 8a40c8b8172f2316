program p workgroup(64) elements(64) {
    inout u : u32[64];
    fn clear(b : in u32[], i : u32) {
        b[i] = 0;
    }

    clear(u, 0);
    clear(u, 1);
}
// expect: 4:9: error[V063] `b` is an argument `in`, which is only read
