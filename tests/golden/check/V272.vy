program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = u32(grid_any(f[1]));
    f[1] = group_xor(f[2]);
    f[2] = group_broadcast(f[3], 1i);
}
// expect: 5:25: error[V272] grid_any can't work on f32
// expect: 6:22: error[V272] group_xor can't work on f32
// expect: 7:34: error[V272] the lane is i32, not u32
