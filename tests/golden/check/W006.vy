program p workgroup(64) elements(64) {
    inout u : u32[64];

    u[global_id.x] = 0 - 1;
    u[global_id.x] = 0xffffffff + (2 * 3 - 5);
    u[global_id.x] = u32(65536ul * 65536ul) ^ u32(2147483647i + 1i) ^ u32(3i - 4i);
}
// expect: 4:22: warning[W006] this does not fit into u32 and wraps
// expect: 5:22: warning[W006] this does not fit into u32 and wraps
// expect: 6:51: warning[W006] this does not fit into i32 and wraps
