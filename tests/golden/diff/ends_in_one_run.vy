// Lanes end together in one arm, and alone in the other of one run.
program p_2 workgroup(1, 2) grid(1, 1, 1) {
    let group_lane = local_id.y;
    if (false) {
        if (true) {
            exit;
        } else if (group_lane == 1) {
            exit;
        }
    } else {
        barrier(acq_rel);
    }
}
