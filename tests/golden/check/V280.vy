program p workgroup(64) elements(64) {
    inout u : u32[64];
    scratch size : u32;

    u[0] = size[0];
}
// expect: 5:12: error[V280] `size` is one element
