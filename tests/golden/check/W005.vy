program p workgroup(64) elements(64) {
    inout u : u32[64];

    let wide = u64(u[global_id.x]) << 32;
    u[global_id.x] = u[global_id.x] << 31 | u[global_id.x] >> 32 | u32(wide >> 64);
}
// expect: 5:45: warning[W005] u32 has 32 bits, and amounts are taken modulo that: this shifts by 0
// expect: 5:72: warning[W005] u64 has 64 bits, and amounts are taken modulo that: this shifts by 0
