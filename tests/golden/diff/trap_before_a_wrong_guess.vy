// Lane 1 traps, and whether a grid barrier follows only the device knows: if it is guessed that one
// does, and none does, lane 0 traps in the same interval and is the one that is told.
program p workgroup(1) grid(2) {
    inout level : f64[1];
    inout v : u32[2];

    let lane = global_id.x;
    if (lane == 1) {
        trap("first", 0);
    }
    if (level[0] > 1000000.0d) {
        grid_sync;
    }
    trap("second", 0);
}
