program p workgroup(64) elements(64) {
    inout     u : u32[64];
    workgroup t : u32[2];
    private   o : u32[1];

    u[0] = 1;
    u[0] = u[0] + 1;
    t[1] = local_id.x;
    t[group_id.x] = group_id.x;
    o[0] = global_id.x;
    if (local_id.x == 0) {
        u[1] = u[1] + 1;
    }
}
// expect: 7:5: warning[W008] every lane of the grid stores its own value in this element of `u`
// expect: 8:5: warning[W008] every lane of the group stores its own value in this element of `t`
