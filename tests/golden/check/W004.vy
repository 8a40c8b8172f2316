program p workgroup(64) elements(64) {
    inout u : u32[64];

    let i = 3;
    let j = 3i;
    while (i >= 0) {
        u[i] = i;
        i = i - 1;
        if (0 > u[i] || j < 0) {
            break;
        }
    }
}
// expect: 6:12: warning[W004] this is always true: u32 has no negative values
// expect: 9:13: warning[W004] this is always false: u32 has no negative values
