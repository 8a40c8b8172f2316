program p workgroup(64) elements(64) {
    in f : f32[64];
    inout u : u32[64];
    fn clear(b : inout u32[]) {
        b[0] = 0;
    }

    clear(f);
}
// expect: 8:11: error[V281] the argument `b` is u32[], `f` is f32[]
