// How many triangles has a graph? A lane for each edge merges the rows of its ends.
program triangles workgroup(128) elements(len(col)) {
    in  row   : u32[];
    in  col   : u32[];
    in  begin : u32[len(col)]; // of each edge
    out count : u32[1];

    let e = global_id.x;
    let found = 0;
    if (e < len(col)) {
        let u = begin[e];
        let v = col[e];
        if (u < v) {
            let i = e + 1; // rows are in order: from here on they are above v
            let j = row[v];
            let i_end = row[u + 1];
            let j_end = row[v + 1];
            while (i < i_end && j < j_end) {
                let a = col[i];
                let b = col[j];
                if (a == b) {
                    found = found + 1;
                    i = i + 1;
                    j = j + 1;
                } else if (a < b) {
                    i = i + 1;
                } else {
                    j = j + 1;
                }
            }
        }
    }
    let sum = subgroup_add(found);
    if (subgroup_local_id == 0) {
        atomic_add(count[0], sum, relaxed);
    }
}
