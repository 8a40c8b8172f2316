program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    fn early(x : u32) -> u32 {
        if (x == 0) {
            return 1;
        }
        return x;
    }
    u[0] = early(0);
}
// expect: 7:13: error[V112] return may only be the last statement of a function
