program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    trap("t", 1i);
}
// expect: 5:15: error[V261] the address of a trap is i32, not u32
