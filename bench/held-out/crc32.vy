// Check sums of many records, word by word with four tables: word k of all records lies together. The tables
// are in workgroup memory.
program crc32 workgroup(256) elements(records) {
    param     records : u32 = 300;
    param     words   : u32 = 5;
    in        text    : u32[records * words];
    in        tables  : u32[1024];
    out       sums    : u32[records];
    workgroup table   : u32[1024];

    for (k in local_id.x .. 1024 step 256) {
        table[k] = tables[k];
    }
    barrier;
    let i = global_id.x;
    if (i < records) {
        let sum = 0xffffffff;
        for (k in 0 .. words) {
            let w = sum ^ text[k * records + i];
            sum = table[768 + (w & 255)] ^ table[512 + (w >> 8 & 255)] ^ table[256 + (w >> 16 & 255)] ^ table[w >> 24];
        }
        sums[i] = ~sum;
    }
}
