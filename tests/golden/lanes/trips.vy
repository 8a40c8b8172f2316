// Loops over all elements in a group that waits: the trips of a group follow one another, what lanes add up is
// kept, and workgroup memory is theirs. Groups are an odd number, and rows say how many trips a lane makes.
program trips workgroup(32) grid(5) {
    in        x    : u32[1000];
    in        col  : u32[64];
    out       sums : u32[160];
    out       hits : u32[16];
    out       o    : u32[1000];
    out       near : u32[160];
    workgroup w    : u32[16];
    workgroup t    : u32[20];
    workgroup more : u32[160]; // what lies behind

    if (local_id.x < 20) {
        t[local_id.x] = x[local_id.x];
    }
    for (k in local_id.x .. 160 step 32) {
        more[k] = k + 1;
    }
    let mine = 7;
    let last = 0;
    for (i in global_id.x + 3 .. len(x) step global_size.x) {
        mine = mine * 3 + x[i];
        atomic_add(w[x[i] % 16], 1);
        last = i;
    }
    barrier;
    if (local_id.x < 16) {
        atomic_add(hits[local_id.x], w[local_id.x]);
    }
    sums[global_id.x] = mine ^ last;
    let own = more[local_id.x];
    for (e in global_id.x % 60 .. global_id.x % 60 + x[local_id.x] % 9) {
        own = own * 3 + t[e];
    }
    near[global_id.x] = own;
    for (i in global_id.x .. len(o) step global_size.x) {
        let sum = 0;
        for (e in x[i] % 70 .. x[i] % 70 + x[i] % 5) {
            sum = sum * 7 + col[e];
        }
        o[i] = sum + 1;
    }
}
