// Stores of some lanes: blended where no other lane of the plane writes the elements, else not.
program blends workgroup(16, 4) grid((n + 15) / 16, (n + 3) / 4) {
    param n     : u32 = 40;
    inout held  : u32[n * n];
    inout loose : u32[n * n];
    inout other : u32[n * n];
    inout twice : u32[n * n];
    out   flags : u8[n * n];

    let x = global_id.x;
    let y = global_id.y;
    if (x < n && y < n) {
        let at = y * n + x;
        if (held[at] < held[n * y]) {
            held[at] = 7; // loaded before: no branch
        }
        if (held[n * y] > x * y) {
            flags[at] = 1;
        }
        if (loose[at] > 5) {
            loose[at ^ 1] = 2; // other lanes may write there
        }
        if (twice[at] > 5) {
            twice[at] = 2; // by two forms
            twice[at + 1] = 3;
        }
    }
    if (x <= n && other[y * n + x] < 9) {
        other[y * n + x] = 1; // lane n has the element of lane 0 in the next row
    }
}
