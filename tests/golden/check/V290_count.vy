program p workgroup(64) elements(64) {
    inout f : f32[4][16];
    workgroup t : u32[2][2][2];

    f[global_id.x] = 1.0;
    f[0][1] = f[0][1][2] + f[3];
    atomic_add(t[0][1], 1);
}
// expect: 5:5: error[V290] `f` is f32[][] and takes 2 indices, not 1
// expect: 6:15: error[V290] `f` is f32[][] and takes 2 indices, not 3
// expect: 7:16: error[V290] `t` is u32[][][] and takes 3 indices, not 2
