// A layer of a network: 16 hidden units see all inputs, then each weight moves by how wrong its unit was.
// A workgroup for each 16 inputs.
program backprop workgroup(16, 16) grid(len(x) / 16) {
    in        x       : f32[]; // a multiple of 16
    in        weight  : f32[len(x)][16];
    in        before  : f32[len(x)][16]; // by how much weights moved the last time
    in        target  : f32[16];
    out       hidden  : f32[16];
    out       changed : f32[len(x)][16];
    scratch   part    : f32[len(x) / 16][16];
    scratch   delta   : f32[16];
    workgroup node    : f32[16];
    workgroup tile    : f32[16][16];

    let unit = local_id.x;
    let y = local_id.y;
    let i = group_id.x * 16 + y;
    if (unit == 0) {
        node[y] = x[i];
    }
    barrier;
    tile[y][unit] = weight[i][unit] * node[y];
    barrier;
    for (let s = 8; s > 0; s = s / 2) {
        if (y < s) {
            tile[y][unit] = tile[y][unit] + tile[y + s][unit];
        }
        barrier;
    }
    if (y == 0) {
        part[group_id.x][unit] = tile[0][unit];
    }
    grid_sync;
    if (group_id.x == 0) {
        let sum = 0.0;
        for (g in y .. num_groups.x step 16) {
            sum = sum + part[g][unit];
        }
        tile[y][unit] = sum;
        barrier;
        for (let s = 8; s > 0; s = s / 2) {
            if (y < s) {
                tile[y][unit] = tile[y][unit] + tile[y + s][unit];
            }
            barrier;
        }
        if (y == 0) {
            let h = 1.0 / (1.0 + exp(-tile[0][unit]));
            hidden[unit] = h;
            delta[unit] = h * (1.0 - h) * (target[unit] - h);
        }
    }
    grid_sync;
    changed[i][unit] = weight[i][unit] + 0.3 * delta[unit] * node[y] + 0.3 * before[i][unit];
}
