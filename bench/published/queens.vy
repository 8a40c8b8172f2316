// How many ways are there to put n queens on a board? A lane for each choice of the first three rows, which
// goes through the rest with a stack of its own.
program queens workgroup(64) elements(n * n * n) {
    param   n     : u32 = 6;
    out     ways  : u32[1];
    private free  : u32[32]; // of each row: columns still to try
    private down  : u32[32];
    private left  : u32[32];
    private right : u32[32];

    let all = (1 << n) - 1;
    let columns = 0;
    let falls = 0;
    let rises = 0;
    let rest = global_id.x;
    let is_legal = global_id.x < n * n * n;
    for (row in 0 .. 3) {
        let queen = 1 << (rest % n);
        rest = rest / n;
        is_legal = is_legal && ((columns | falls | rises) & queen) == 0;
        columns = columns | queen;
        falls = ((falls | queen) << 1) & all;
        rises = (rises | queen) >> 1;
    }
    let found = 0;
    if (is_legal) {
        let depth = 3;
        free[3] = all & ~(columns | falls | rises);
        down[3] = columns;
        left[3] = falls;
        right[3] = rises;
        while (depth >= 3) {
            let choices = free[depth];
            if (choices == 0) {
                depth = depth - 1;
                continue;
            }
            let queen = choices & (0 - choices);
            free[depth] = choices ^ queen;
            if (depth + 1 == n) {
                found = found + 1;
                continue;
            }
            columns = down[depth] | queen;
            falls = ((left[depth] | queen) << 1) & all;
            rises = (right[depth] | queen) >> 1;
            depth = depth + 1;
            free[depth] = all & ~(columns | falls | rises);
            down[depth] = columns;
            left[depth] = falls;
            right[depth] = rises;
        }
    }
    let sum = subgroup_add(found);
    if (subgroup_local_id == 0) {
        atomic_add(ways[0], sum, relaxed);
    }
}
