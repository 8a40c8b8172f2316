// Motion estimation: how much each 4 x 4 pixels differ from those at 17 x 17 places around them in another
// picture, then the same for 8 x 8 pixels from their four parts. A workgroup for each block; lanes are places.
program sad workgroup(64) grid(width / 4, height / 4) {
    param     width  : u32 = 16; // both are multiples of 8
    param     height : u32 = 24;
    in        frame  : u8[width * height];
    in        other  : u8[width * height];
    out       four   : u16[width * height / 16 * 289];
    out       eight  : u16[width * height / 64 * 289];
    workgroup block  : u32[16];
    workgroup around : u32[400]; // 20 x 20

    let x0 = group_id.x * 4;
    let y0 = group_id.y * 4;
    if (local_id.x < 16) {
        block[local_id.x] = u32(frame[(y0 + local_id.x / 4) * width + x0 + local_id.x % 4]);
    }
    for (k in local_id.x .. 400 step 64) {
        let x = clamp(i32(x0 + k % 20) - 8, 0, i32(width) - 1);
        let y = clamp(i32(y0 + k / 20) - 8, 0, i32(height) - 1);
        around[k] = u32(other[u32(y) * width + u32(x)]);
    }
    barrier;
    let place = group_id.y * num_groups.x + group_id.x;
    for (k in local_id.x .. 289 step 64) {
        let corner = k / 17 * 20 + k % 17;
        let sum = 0;
        for (y in 0 .. 4) {
            for (x in 0 .. 4) {
                sum = sum + abs_diff(block[y * 4 + x], around[corner + y * 20 + x]);
            }
        }
        four[place * 289 + k] = u16(sum);
    }
    grid_sync;
    if (group_id.x % 2 == 0 && group_id.y % 2 == 0) {
        let whole = group_id.y / 2 * (num_groups.x / 2) + group_id.x / 2;
        let below = place + num_groups.x;
        for (k in local_id.x .. 289 step 64) {
            let upper = u32(four[place * 289 + k]) + u32(four[(place + 1) * 289 + k]);
            let lower = u32(four[below * 289 + k]) + u32(four[(below + 1) * 289 + k]);
            eight[whole * 289 + k] = u16(upper + lower);
        }
    }
}
