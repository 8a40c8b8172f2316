program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    fn some(x : u32) -> u32 {
        if (x == 0) {
            return 1;
        }
        for (i in 0 .. x) {
            return i;
        }
    }
    u[0] = some(0);
}
// expect: 5:5: error[V260] `some` does not return a value on every way
