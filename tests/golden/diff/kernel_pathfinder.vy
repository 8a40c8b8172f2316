// After Rodinia pathfinder: rows of costs, the last and the present one in one buffer.
program p workgroup(16) grid(3) {
    in      wall : u32[10 * 48];
    out     best : u32[48];
    scratch cost : u32[2 * 48];

    let x = global_id.x;
    cost[x] = wall[x] & 15;
    grid_sync;
    for (t in 1 .. 10) {
        let from = ((t + 1) & 1) * 48;
        let to = (t & 1) * 48;
        let left = x == 0 ? cost[from] : cost[from + x - 1];
        let right = x == 47 ? cost[from + 47] : cost[from + x + 1];
        cost[to + x] = min(cost[from + x], min(left, right)) + (wall[t * 48 + x] & 15);
        grid_sync;
    }
    best[x] = cost[48 + x];
}
