// The eight nearest of many descriptors of 16 bytes, for each query: descriptors in workgroup memory, the
// best so far in order in private memory.
program knn workgroup(64) elements(queries) {
    param     queries : u32 = 100;
    param     points  : u32 = 100;
    in        query   : u8[queries * 16];
    in        point   : u8[points * 16];
    out       nearest : u32[queries * 8];
    out       apart   : u32[queries * 8];
    private   mine    : i32[16];
    private   best    : u32[8];
    private   which   : u32[8];
    workgroup tile    : i32[1024]; // 64 descriptors

    let q = global_id.x;
    for (d in 0 .. 16) {
        mine[d] = i32(query[q * 16 + d]);
    }
    for (k in 0 .. 8) {
        best[k] = 0xffffffff;
    }
    for (first in 0 .. points step 64) {
        for (d in 0 .. 16) {
            tile[d * 64 + local_id.x] = i32(point[first * 16 + d * 64 + local_id.x]);
        }
        barrier;
        for (p in 0 .. min(64, points - first)) {
            let sum = 0i;
            for (d in 0 .. 16) {
                let difference = mine[d] - tile[p * 16 + d];
                sum = sum + difference * difference;
            }
            let far = u32(sum);
            if (far < best[7]) {
                let k = 7;
                while (k > 0 && best[k - 1] > far) {
                    best[k] = best[k - 1];
                    which[k] = which[k - 1];
                    k = k - 1;
                }
                best[k] = far;
                which[k] = first + p;
            }
        }
        barrier;
    }
    if (q < queries) {
        for (k in 0 .. 8) {
            nearest[q * 8 + k] = which[k];
            apart[q * 8 + k] = best[k];
        }
    }
}
