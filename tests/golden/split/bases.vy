// Values that are a base plus the lane's place: what is carried is the base, by the schedule if it
// knows it without memory, else by the group.
program bases workgroup(4) elements(8) {
    inout   a : u32[64];
    inout   first : u32[2];
    out     sum : u32[8];
    param   rounds : u32 = 3;

    let i = global_id.x;
    let own = first[group_id.x] + local_id.x * 2;
    for (k in 0 .. rounds) {
        a[i] = a[63 - i] + k;
        grid_sync;
        if (local_id.x == 0) {
            first[group_id.x] = k;
        }
        i = i + 8;
        sum[global_id.x] = sum[global_id.x] + a[own % 64];
        grid_sync;
    }
    sum[global_id.x] = sum[global_id.x] + a[i];
}
