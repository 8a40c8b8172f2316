// Sums of segments of very different lengths, one lane per segment.
program segments workgroup(64) elements(len(begin) - 1) {
    in  begin : u32[];
    in  x     : f32[];
    out sum   : f32[len(begin) - 1];

    let s = global_id.x;
    if (s < len(sum)) {
        let all = 0.0;
        for (i in begin[s] .. begin[s + 1]) {
            all = all + x[i];
        }
        sum[s] = all;
    }
}
