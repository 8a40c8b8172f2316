// Returns before the end: out of guards, chains of arms, nested loops, blocks, and around barriers.
program p workgroup(64) grid(2) {
    in      a : u32[128];
    out     o : u32[640];
    scratch s : u32[128];

    fn pick(x : u32) -> u32 {
        if (x < 10) {
            return 1;
        }
        if (x < 20) {
            return 2;
        } else if (x < 30) {
            let y = x + 1;
            return y;
        }
        let y = x * 2;
        return y;
    }
    fn find(n : u32, v : u32) -> u32 {
        for (i in 0 .. n) {
            for (let k = 0; k < 3; k += 1) {
                if (a[i] + k == v) {
                    return i * 10 + k;
                }
                if (k == 1) {
                    continue;
                }
            }
        }
        return 999;
    }
    fn put(i : u32) {
        if (i % 3 == 0) {
            return;
        } else {
            let z = i;
            o[256 + i] = z;
        }
        let z = 5;
        {
            if (i % 5 == 0) {
                return;
            }
            o[256 + i] += 1;
        }
        if (i % 7 == 0) {
            o[256 + i] += 10;
        } else if (i % 7 == 1) {
            return;
        }
        o[256 + i] += 100 * z;
    }
    fn both(i : u32) -> u32 {
        if (i > 30) {
            if (i > 40) {
                return 3;
            } else {
                return 4;
            }
        } else {
            if (i == 7) {
                exit;
            }
        }
        return 5;
    }
    fn shift(rounds : u32, i : u32) -> u32 {
        if (rounds == 0) {
            return 7;
        }
        for (r in 0 .. 5) {
            s[i] = i + r;
            grid_sync;
            if (s[0] == rounds) {
                grid_sync;
                return r;
            }
            let x = s[127 - i];
            grid_sync;
            s[i] = x;
        }
        return 99;
    }
    let i = global_id.x;
    o[i] = pick(i);
    o[128 + i] = find(i, a[i] % 50);
    put(i);
    o[384 + i] = both(i);
    o[512 + i] = shift(2, i) + 10 * shift(0, i) + 100 * shift(9, i) + s[i];
}
