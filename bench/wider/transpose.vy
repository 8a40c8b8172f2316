// A matrix transposed through tiles in workgroup memory, one lane per element.
program transpose workgroup(16, 16) grid((width + 15) / 16, (height + 15) / 16) {
    param     width  : u32 = 64;
    param     height : u32 = 64;
    in        a      : f32[width * height];
    out       b      : f32[width * height];
    workgroup tile   : f32[272]; // rows of 17, so that columns lie in different banks

    let x = global_id.x;
    let y = global_id.y;
    if (x < width && y < height) {
        tile[local_id.y * 17 + local_id.x] = a[y * width + x];
    }
    barrier;
    let row = group_id.x * 16 + local_id.y;
    let column = group_id.y * 16 + local_id.x;
    if (row < width && column < height) {
        b[row * height + column] = tile[local_id.x * 17 + local_id.y];
    }
}
