// Rows of a group that are shorter than most vectors.
program narrow workgroup(4, 16) {
    in a : u32[];
    inout b : u32[len(a)];
    workgroup t : u32[16][4];
    t[local_id.y][local_id.x] = a[global_id.y * 4 + local_id.x];
    barrier;
    b[global_id.y * 4 + local_id.x] = t[15 - local_id.y][local_id.x];
}
