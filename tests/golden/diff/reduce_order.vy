// The order in which groups are combined shows in the sum, and lanes that have ended have no vote.
program p workgroup(4) grid(6) {
    out y : f32[24];
    out n : u32[24];

    let i = global_id.x;
    let first = local_id.x == 0;
    let v = select(group_id.x == 0, 1e8, select(group_id.x == 4, -1e8, select(group_id.x % 4 == 1, 1.0, 0.0)));
    y[i] = grid_add(select(first, v, 0.0));
    if (first) {
        exit;
    }
    let some = group_any(first);
    let every = group_all(!first);
    n[i] = select(some, 1, 4) + select(every, 2, 8);
}
