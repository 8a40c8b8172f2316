program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    fn ping(x : u32) -> u32 {
        let y = pong(x);
        return y;
    }
    fn pong(x : u32) -> u32 {
        let y = ping(x);
        return y;
    }
    u[0] = ping(1);
}
// expect: 10:17: error[V258] `ping` calls itself through this call
