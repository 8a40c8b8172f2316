program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    if (global_id.x == 0) {
        exit;
    }
    grid_sync;
    u[global_id.x] = 1;
}

