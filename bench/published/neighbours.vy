// How many particles are near each particle? They are sorted into cells by atomics, and each looks into the
// nine cells around it.
program neighbours workgroup(256) elements(len(x)) {
    in        x     : u16[];
    in        y     : u16[len(x)];
    param     side  : u32 = 8; // cells along each axis, a power of two of at most 256
    param     reach : u32 = 100; // at most the side of a cell
    out       count : u32[len(x)];
    scratch   begin : u32[side * side + 1];
    scratch   next  : u32[side * side];
    scratch   px    : u16[len(x)];
    scratch   py    : u16[len(x)];
    workgroup line  : u32[256];

    let i = global_id.x;
    let cell = 65536 / side;
    let own = y[i] / cell * side + x[i] / cell;
    if (i < len(x)) {
        atomic_add(next[own], 1, relaxed);
    }
    grid_sync;
    if (group_id.x == 0) {
        let carry = 0;
        for (first in 0 .. side * side step 256) {
            let mine = next[first + local_id.x];
            line[local_id.x] = mine;
            barrier;
            let far = 1;
            while (far < 256) {
                let left = local_id.x >= far ? line[local_id.x - far] : 0;
                barrier;
                line[local_id.x] = line[local_id.x] + left;
                barrier;
                far = far * 2;
            }
            if (first + local_id.x < side * side) {
                begin[first + local_id.x + 1] = carry + line[local_id.x];
                next[first + local_id.x] = carry + line[local_id.x] - mine;
            }
            carry = carry + line[255];
            barrier;
        }
    }
    grid_sync;
    if (i < len(x)) {
        let to = atomic_add(next[own], 1, relaxed);
        px[to] = x[i];
        py[to] = y[i];
    }
    grid_sync;
    if (i < len(x)) {
        let found = 0;
        let cx = x[i] / cell;
        let cy = y[i] / cell;
        let from_x = max(cx, 1) - 1;
        let to_x = min(cx + 2, side);
        for (row in max(cy, 1) - 1 .. min(cy + 2, side)) {
            for (k in begin[row * side + from_x] .. begin[row * side + to_x]) {
                let dx = abs_diff(px[k], x[i]);
                let dy = abs_diff(py[k], y[i]);
                found = found + u32(dx * dx + dy * dy <= reach * reach);
            }
        }
        count[i] = found - 1;
    }
}
