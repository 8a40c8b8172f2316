program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    for (i in 0 .. 4) {
        if (i == 0) {
            barrier;
        }
    }
}

