program p workgroup(64) grid(4) {
    inout u : u32[64];

    let i = global_id.x;
    let j = local_id.x;
    if (u[0] == 0) {
        barrier;
    }
    if (i - j >= 128) {
        barrier;
    }
}
