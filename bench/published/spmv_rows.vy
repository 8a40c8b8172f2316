// A sparse matrix times a vector, a subgroup for each row.
program spmv_rows workgroup(256) grid(256) {
    in  row : u32[];
    in  col : u32[];
    in  val : f32[len(col)];
    in  x   : f32[len(row) - 1];
    out y   : f32[len(row) - 1];

    let n = len(row) - 1;
    for (first in group_id.x * 8 .. n step num_groups.x * 8) {
        let r = first + local_id.x / 32;
        let sum = 0.0;
        if (r < n) {
            for (e in row[r] + subgroup_local_id .. row[r + 1] step 32) {
                sum = fma(val[e], x[col[e]], sum);
            }
        }
        let all = subgroup_add(sum);
        if (subgroup_local_id == 0 && r < n) {
            y[r] = all;
        }
    }
}
