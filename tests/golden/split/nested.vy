// Loops in loops, where steps go back and forth over each other.
program nested workgroup(2) elements(4) {
    inout x : u32[4];
    for (a in 0 .. 3) {
        if (a == 1) {
            continue;
        }
        let b = 0;
        while (b < 2) {
            x[global_id.x] = x[global_id.x] + 1;
            grid_sync;
            if (b + a == 3) {
                break;
            }
            x[global_id.x] = x[(global_id.x + 1) % 4];
            grid_sync;
            b = b + 1;
        }
        x[global_id.x] = x[global_id.x] + b;
    }
}
