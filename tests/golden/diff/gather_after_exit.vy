// Elements that an ended lane would have copied were not gathered.
program p workgroup(2) grid(1, 1) {
    inout inout_2 : u32[1];
    scratch scratch_4 : u32[1];

    let lane = global_id.x;
    if (lane == 0) {
        exit;
    }
    all_gather(scratch_4, inout_2);
}
