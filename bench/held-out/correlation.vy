// How much each two of m variables go together, over n points: means and deviations of the columns, the
// table made even by them, then its product with itself, of which one half is computed.
program correlation workgroup(16, 16) grid(m / 16, m / 16) {
    param     m     : u32 = 32; // a multiple of 16
    param     n     : u32 = 21;
    in        data  : f32[n * m];
    out       corr  : f32[m * m];
    scratch   mean  : f32[m];
    scratch   scale : f32[m];
    scratch   even  : f32[n * m];
    workgroup one   : f32[16][16];
    workgroup two   : f32[16][16];

    let x = local_id.x;
    let y = local_id.y;
    if (group_id.y == 0) { // a workgroup for each 16 columns
        let column = global_id.x;
        let sum = 0.0;
        for (i in y .. n step 16) {
            sum = sum + data[i * m + column];
        }
        one[y][x] = sum;
        barrier;
        for (let s = 8; s > 0; s = s / 2) {
            if (y < s) {
                one[y][x] = one[y][x] + one[y + s][x];
            }
            barrier;
        }
        let middle = one[0][x] / f32(n);
        let squares = 0.0;
        for (i in y .. n step 16) {
            let off = data[i * m + column] - middle;
            squares = squares + off * off;
        }
        two[y][x] = squares;
        barrier;
        for (let s = 8; s > 0; s = s / 2) {
            if (y < s) {
                two[y][x] = two[y][x] + two[y + s][x];
            }
            barrier;
        }
        if (y == 0) {
            let deviation = sqrt(two[0][x] / f32(n));
            mean[column] = middle;
            scale[column] = 1.0 / (sqrt(f32(n)) * select(deviation > 0.1, deviation, 1.0));
        }
    }
    grid_sync;
    for (i in global_id.y .. n step global_size.y) {
        even[i * m + global_id.x] = (data[i * m + global_id.x] - mean[global_id.x]) * scale[global_id.x];
    }
    grid_sync;
    if (group_id.x >= group_id.y) {
        let sum = 0.0;
        for (first in 0 .. n step 16) {
            let i = first + y;
            one[y][x] = i < n ? even[i * m + group_id.y * 16 + x] : 0.0;
            two[y][x] = i < n ? even[i * m + group_id.x * 16 + x] : 0.0;
            barrier;
            for (k in 0 .. 16) {
                sum = fma(one[k][y], two[k][x], sum);
            }
            barrier;
        }
        if (global_id.x == global_id.y) {
            sum = 1.0;
        }
        corr[global_id.y * m + global_id.x] = sum;
        corr[global_id.x * m + global_id.y] = sum;
    }
}
