program p workgroup(10, 10) grid(4, 4) {
    out y : u32[1600];

    y[global_id.y * 40 + global_id.x] = 1;
}
// expect: 1:1: warning[W104] a group of 100: devices run 32 lanes at once, so 28 of 128 places stay empty
