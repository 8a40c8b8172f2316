// A filter that keeps edges: each of 7 x 7 pixels counts by how far it is and by how different it is. The
// pixels that a workgroup needs are in its memory.
program bilateral workgroup(16, 16) grid((width + 15) / 16, (height + 15) / 16) {
    param     width  : u32 = 40;
    param     height : u32 = 40;
    in        image  : u8[width * height];
    in        near   : f32[49]; // weights by distance
    out       smooth : f32[width * height];
    workgroup tile   : f32[484]; // 22 x 22

    let x0 = i32(group_id.x * 16) - 3;
    let y0 = i32(group_id.y * 16) - 3;
    for (k in local_id.y * 16 + local_id.x .. 484 step 256) {
        let x = min(max(x0 + i32(k % 22), 0), i32(width) - 1);
        let y = min(max(y0 + i32(k / 22), 0), i32(height) - 1);
        tile[k] = f32(image[u32(y) * width + u32(x)]);
    }
    barrier;
    let x = global_id.x;
    let y = global_id.y;
    if (x >= width || y >= height) {
        exit;
    }
    let centre = tile[(local_id.y + 3) * 22 + local_id.x + 3];
    let sum = 0.0;
    let weights = 0.0;
    for (dy in 0 .. 7) {
        for (dx in 0 .. 7) {
            let other = tile[(local_id.y + dy) * 22 + local_id.x + dx];
            let apart = other - centre;
            let weight = near[dy * 7 + dx] * exp(-0.0005 * apart * apart);
            sum = sum + weight * other;
            weights = weights + weight;
        }
    }
    smooth[y * width + x] = sum / weights;
}
