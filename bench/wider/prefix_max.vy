// The largest element so far, for each element: tiles of a workgroup, then the tiles before.
program prefix_max workgroup(256) elements(16384) {
    in        x    : i32[];
    out       y    : i32[len(x)];
    scratch   tops : i32[len(x) / 256 + 1];
    workgroup line : i32[256];

    fn group_max(v : i32) -> i32 {
        barrier;
        line[local_id.x] = v;
        barrier;
        let reach = 1;
        while (reach < 256) {
            let left = local_id.x >= reach ? line[local_id.x - reach] : v;
            barrier;
            line[local_id.x] = max(line[local_id.x], left);
            barrier;
            reach = reach * 2;
        }
        return line[local_id.x];
    }

    let tiles = (len(x) + 255) / 256;
    for (tile in group_id.x .. tiles step num_groups.x) {
        let i = tile * 256 + local_id.x;
        let top = group_max(i < len(x) ? x[i] : -2147483648);
        y[i] = top;
        if (local_id.x == 255) {
            tops[tile] = top;
        }
    }
    grid_sync;
    if (group_id.x == 0) {
        let carry : i32 = -2147483648;
        for (first in 0 .. tiles step 256) {
            let t = first + local_id.x;
            let top = max(carry, group_max(t < tiles ? tops[t] : -2147483648));
            tops[t] = top;
            carry = max(carry, line[255]);
        }
    }
    grid_sync;
    for (i in global_id.x + 256 .. len(x) step global_size.x) {
        y[i] = max(y[i], tops[i / 256 - 1]);
    }
}
