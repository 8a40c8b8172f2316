// The variable of the loop passes the size of the group: lanes of both groups meet at a[4 .. 7].
program p workgroup(4) grid(2) {
    inout a : u32[16];
    out   b : u32[8];

    for (v in local_id.x .. 8 step group_size.x) {
        atomic_add(a[group_id.x * 4 + v], 1);
    }
    grid_sync;
    b[global_id.x] = a[global_id.x];
}
