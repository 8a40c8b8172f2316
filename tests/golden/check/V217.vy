program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = global_id;
}
// expect: 5:12: error[V217] `global_id` needs an axis
