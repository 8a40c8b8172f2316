// The sum of all pixels above and to the left of each: a workgroup scans each row, then a lane goes down
// each column.
program integral workgroup(256) grid(height) {
    param     width  : u32 = 300;
    param     height : u32 = 20;
    in        image  : u8[width * height];
    out       sums   : u32[width * height];
    workgroup line   : u32[256];

    let base = group_id.x * width;
    let carry = 0;
    for (first in 0 .. width step 256) {
        let x = first + local_id.x;
        line[local_id.x] = x < width ? image[base + x] : 0;
        barrier;
        let reach = 1;
        while (reach < 256) {
            let left = local_id.x >= reach ? line[local_id.x - reach] : 0;
            barrier;
            line[local_id.x] = line[local_id.x] + left;
            barrier;
            reach = reach * 2;
        }
        if (x < width) {
            sums[base + x] = carry + line[local_id.x];
        }
        carry = carry + line[255];
        barrier;
    }
    grid_sync;
    for (x in global_id.x .. width step global_size.x) {
        let sum = 0;
        for (y in 0 .. height) {
            sum = sum + sums[y * width + x];
            sums[y * width + x] = sum;
        }
    }
}
