program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    f[0] = subgroup_and(f[1]);
}
// expect: 5:25: error[V047] subgroup_and can't work on f32
