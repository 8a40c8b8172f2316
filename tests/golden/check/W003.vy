program p workgroup(64) elements(64) {
    inout u : u32[64];
    const checks : u32 = 0;

    if (checks == 1) {
        u[global_id.x] = 1;
    }
    if (2 * 3 == 7) {
        u[global_id.x] = 2;
    }
    while (1 < 2) {
        u[global_id.x] = 3;
        break;
    }
    while (true) {
        break;
    }
}
// expect: 8:9: warning[W003] this condition is always false
// expect: 11:12: warning[W003] this condition is always true
