// What a group was told by one lane is the same for the group behind the barrier, too.
program p workgroup(2) grid(3) {
    out y : u32[6];

    let n = group_broadcast(global_id.x, 1);
    grid_sync;
    for (i in 0 .. n) {
        barrier;
        y[global_id.x] += i;
    }
}
