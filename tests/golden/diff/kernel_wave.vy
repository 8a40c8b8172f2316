// A wave equation in three time levels of one buffer, one barrier for each step; a step that
// is flat ends it.
program p workgroup(16) grid(3) {
    in      start : u32[48];
    out     last  : u32[48];
    scratch u     : u32[3 * 48];
    scratch moved : u32[3];
    param   steps : u32 = 6;

    let x = global_id.x;
    u[x] = start[x] & 7;
    u[48 + x] = start[x] & 7;
    grid_sync;
    for (t in 1 .. steps) {
        let old = (t - 1) % 3 * 48;
        let now = t % 3 * 48;
        let new = (t + 1) % 3 * 48;
        let left = x == 0 ? 0 : u[now + x - 1];
        let right = x == 47 ? 0 : u[now + x + 1];
        u[new + x] = left + right - u[old + x];
        atomic_or(moved[t % 3], left ^ right);
        if (x == 0) {
            moved[(t + 1) % 3] = 0;
        }
        grid_sync;
        if (moved[t % 3] == 0) {
            break;
        }
    }
    last[x] = u[x];
}
