// zeroed_workgroup
// Written as a whole before it is read, by one store or by a loop; only in part; never read.
program zero workgroup(16, 16) grid(4) {
    in x : f32[];
    out y : f32[256];
    workgroup tile : f32[256];
    workgroup wide : f32[1000];
    workgroup part : f32[257];
    workgroup count : u32[1];
    workgroup unread : u32[4];

    let i = local_id.y * 16 + local_id.x;
    tile[255 - i] = x[i];
    part[i] = x[i + 1];
    unread[i] = 1;
    for (k in i .. 1000 step 256) {
        wide[k] = x[k];
    }
    barrier;
    atomic_add(count[0], 1);
    y[i] = tile[i] + wide[i * 3] + part[i + 1];
}
