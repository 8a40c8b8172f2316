program p workgroup(64) elements(64) {
    inout u : u32[64];

    while (true) {
        u[global_id.x] += 1;
        if (u[global_id.x] > 5) {
            break;
        }
    }
    while (true) {
        for (i in 0 .. 3) {
            if (u[i] == 2) {
                break;
            }
        }
        grid_sync;
    }
}
// expect: 10:5: warning[W007] this loop never ends
