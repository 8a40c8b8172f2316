program p workgroup(64) elements(64) {
    inout f : f32[4][16];
    fn clear(b : inout f32[], i : u32) {
        b[i] = 0.0;
    }

    clear(f, 1);
}
// expect: 7:11: error[V281] the argument `b` is f32[], `f` is f32[][]
