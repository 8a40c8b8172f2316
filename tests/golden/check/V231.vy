program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    fn narrow(x : u8) {
        u[0] = x;
    }
    narrow(1);
}
// expect: 5:19: error[V231] an argument can't have the type u8, which is only stored
