// Radix sort: four bits in a pass, counts of groups scanned, buffers exchanged.
program p workgroup(16) grid(3) {
    inout     a     : u32[48];
    scratch   b     : u32[48];
    scratch   count : u32[48];
    workgroup digit : u32[16];

    let l = local_id.x;
    for (shift in 0 .. 16 step 4) {
        digit[l] = a[global_id.x] >> shift & 15;
        barrier;
        let rank = 0;
        let mine = digit[l];
        let total = 0;
        for (k in 0 .. 16) {
            rank += k < l && digit[k] == mine ? 1 : 0;
            total += digit[k] == l ? 1 : 0;
        }
        count[l * 3 + group_id.x] = total;
        grid_sync;
        let before = 0;
        for (k in 0 .. mine * 3 + group_id.x) {
            before += count[k];
        }
        b[before + rank] = a[global_id.x];
        swap(a, b);
    }
}
