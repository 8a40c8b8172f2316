program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[0] = subgroup_shuffle(u[1], 1i);
}
// expect: 5:35: error[V270] the lane is i32, not u32
