program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    broadcast(u, global_id.x);
}
// expect: 5:18: error[V262] the root of a broadcast varies between lanes
