// SHA-256 of many messages of whole blocks, a lane for each; the last block is not padded.
program sha256 workgroup(64) elements(messages) {
    param   messages : u32 = 10;
    param   blocks   : u32 = 2; // of 16 words, in each message
    in      text     : u32[messages * blocks * 16];
    in      key      : u32[64];
    in      start    : u32[8];
    out     digest   : u32[messages * 8];
    private w        : u32[16];
    private h        : u32[8];

    if (global_id.x >= messages) {
        exit;
    }
    for (k in 0 .. 8) {
        h[k] = start[k];
    }
    for (block in 0 .. blocks) {
        let from = (global_id.x * blocks + block) * 16;
        for (k in 0 .. 16) {
            w[k] = text[from + k];
        }
        let a = h[0];
        let b = h[1];
        let c = h[2];
        let d = h[3];
        let e = h[4];
        let f = h[5];
        let g = h[6];
        let i = h[7];
        for (k in 0 .. 64) {
            let word = w[k & 15];
            if (k >= 16) {
                let old = w[(k + 1) & 15];
                let new = w[(k + 14) & 15];
                let s0 = rotr(old, 7) ^ rotr(old, 18) ^ (old >> 3);
                let s1 = rotr(new, 17) ^ rotr(new, 19) ^ (new >> 10);
                word = word + s0 + w[(k + 9) & 15] + s1;
                w[k & 15] = word;
            }
            let t1 = i + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + key[k] + word;
            let t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            i = g;
            g = f;
            f = e;
            e = d + t1;
            d = c;
            c = b;
            b = a;
            a = t1 + t2;
        }
        h[0] = h[0] + a;
        h[1] = h[1] + b;
        h[2] = h[2] + c;
        h[3] = h[3] + d;
        h[4] = h[4] + e;
        h[5] = h[5] + f;
        h[6] = h[6] + g;
        h[7] = h[7] + i;
    }
    for (k in 0 .. 8) {
        digest[global_id.x * 8 + k] = h[k];
    }
}
