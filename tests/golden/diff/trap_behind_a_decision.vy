// The interval goes on behind the decision: lane 0 is told, though lane 1 traps first.
program p workgroup(1) grid(3) {
    inout a : u32[3];

    let lane = global_id.x;
    if (lane == 1) {
        trap("a", 1);
    }
    while (false) {
        grid_sync;
    }
    trap("b", lane);
}
