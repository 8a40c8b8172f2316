program clause workgroup(4) grid(n, len(a) / 8, len(c)) {
    param n : u32 = 2;
    inout a : u32[8];
    inout b : u32[];
    inout c : u32[2];
    let i = global_id.x;
    a[i] = b[i] + 1;
    grid_sync;
    b[i] = a[7 - i];
}
