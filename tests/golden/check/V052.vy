program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    fn twice(x : u32) -> u32 {
        return x * 2;
    }
    u[0] = twice(f[0]);
}
// expect: 8:18: error[V052] the argument is f32, not u32
