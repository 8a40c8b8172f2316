// traps
// A trap in a loop: the lane is recorded, and ends.
program traps workgroup(64) {
    in x : u32[];
    out y : u32[len(x)];
    for (i in 0 .. 4) {
        if (x[global_id.x + i] == 0) {
            trap("division by zero", global_id.x + i);
        }
        y[global_id.x] += 1000 / x[global_id.x + i];
    }
}
