// A filter of 64 weights over samples of 16 bits; a workgroup's samples are in its memory.
program fir workgroup(256) elements(len(x)) {
    in        x      : i16[];
    in        weight : i16[64];
    out       y      : i16[len(x)];
    workgroup tile   : i32[319];
    workgroup w      : i32[64];

    let first = group_id.x * 256;
    for (k in local_id.x .. 319 step 256) {
        tile[k] = x[first + k]; // beyond the end a load gives 0
    }
    if (local_id.x < 64) {
        w[local_id.x] = weight[local_id.x];
    }
    barrier;
    let sum = 0i;
    for (k in 0 .. 64) {
        sum = sum + w[k] * tile[local_id.x + k];
    }
    y[global_id.x] = min(max(sum >> 15, -32768), 32767);
}
