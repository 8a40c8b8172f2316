program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    let x = subgroup_ballot(f[0]);
}
// expect: 5:29: error[V097] subgroup_ballot can't work on f32
