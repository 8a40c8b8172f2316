program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    fn twice(x : u32) -> u32 {
        return x * 2;
    }
    u[0] = twice(1, 2);
}
// expect: 8:12: error[V021] `twice` takes 1 argument, not 2
