// Symbols to codes of different lengths, packed into words: lengths are scanned, then each lane writes its
// eight codes where they belong, sharing words with its neighbours.
program encode workgroup(256) elements((len(symbol) + 7) / 8) {
    in        symbol : u8[];
    in        code   : u32[256]; // the lowest bits; 1 to 16 are used
    in        length : u32[256];
    out       bits   : u32[len(symbol) / 2 + 1];
    out       total  : u32[1];
    scratch   sums   : u32[(len(symbol) + 2047) / 2048];
    workgroup line   : u32[256];

    // Inclusive, over the workgroup; line[255] is the sum.
    fn scan(v : u32) -> u32 {
        barrier;
        line[local_id.x] = v;
        barrier;
        let reach = 1;
        while (reach < 256) {
            let left = local_id.x >= reach ? line[local_id.x - reach] : 0;
            barrier;
            line[local_id.x] = line[local_id.x] + left;
            barrier;
            reach = reach * 2;
        }
        return line[local_id.x];
    }

    let first = min(global_id.x * 8, len(symbol));
    let last = min(first + 8, len(symbol));
    let mine = 0;
    for (i in first .. last) {
        mine = mine + length[symbol[i]];
    }
    let through = scan(mine);
    if (local_id.x == 255) {
        sums[group_id.x] = through;
    }
    grid_sync;
    if (group_id.x == 0) {
        let carry = 0;
        for (from in 0 .. len(sums) step 256) {
            let here = sums[from + local_id.x];
            let upto = scan(here);
            sums[from + local_id.x] = carry + upto - here;
            carry = carry + line[255];
        }
        if (local_id.x == 0) {
            total[0] = carry;
        }
    }
    grid_sync;
    let at = sums[group_id.x] + through - mine;
    for (i in first .. last) {
        let s = symbol[i];
        let wide = u64(code[s]) << (at % 32);
        atomic_or(bits[at / 32], u32(wide), relaxed);
        if (u32(wide >> 32) != 0) {
            atomic_or(bits[at / 32 + 1], u32(wide >> 32), relaxed);
        }
        at = at + length[s];
    }
}
