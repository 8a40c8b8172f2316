// How often each byte occurs. Every workgroup counts in its own memory first, so that the shared
// counters see one atomic per workgroup and bin.
program histogram workgroup(256) elements(16384) {
    in        x     : u8[];
    out       count : u32[256];
    workgroup mine  : u32[256];

    for (i in global_id.x .. len(x) step global_size.x) {
        atomic_add(mine[x[i]], 1, relaxed);
    }
    barrier;
    for (bin in local_id.x .. 256 step group_size.x) {
        atomic_add(count[bin], mine[bin], relaxed);
    }
}
