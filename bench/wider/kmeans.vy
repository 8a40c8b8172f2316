// To which of the centres is each point nearest? Centres in workgroup memory, one lane per point.
program kmeans workgroup(256) elements(points) {
    param     points : u32 = 1024;
    in        x      : f32[points * 8]; // all first coordinates, all second ones, ...
    in        centre : f32[256]; // 32 of 8 coordinates
    out       label  : u32[points];
    out       size   : u32[32];
    workgroup near   : f32[256];
    workgroup count  : u32[32];

    near[local_id.x] = centre[local_id.x];
    barrier;
    let i = global_id.x;
    if (i < points) {
        let best = 0;
        let least = 1e30;
        for (c in 0 .. 32) {
            let sum = 0.0;
            for (d in 0 .. 8) {
                let apart = x[d * points + i] - near[c * 8 + d];
                sum = fma(apart, apart, sum);
            }
            if (sum < least) {
                least = sum;
                best = c;
            }
        }
        label[i] = best;
        atomic_add(count[best], 1, relaxed);
    }
    barrier;
    if (local_id.x < 32) {
        atomic_add(size[local_id.x], count[local_id.x], relaxed);
    }
}
