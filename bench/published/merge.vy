// Two sorted arrays become one: where each workgroup, then each lane begins is found by bisection along a
// diagonal; lanes merge eight elements each from workgroup memory.
program merge workgroup(128) elements((len(a) + len(b) + 7) / 8) {
    in        a    : u32[];
    in        b    : u32[];
    out       c    : u32[len(a) + len(b)];
    workgroup ends : u32[2];
    workgroup tile : u32[1024]; // elements of a, then those of b

    let all = len(a) + len(b);
    let first = group_id.x * 1024;
    if (local_id.x < 2) {
        let diagonal = min(first + local_id.x * 1024, all);
        let low = select(diagonal > len(b), diagonal - len(b), 0);
        let high = min(diagonal, len(a));
        while (low < high) {
            let mid = (low + high) / 2;
            if (a[mid] <= b[diagonal - 1 - mid]) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        ends[local_id.x] = low;
    }
    barrier;
    let a_from = ends[0];
    let a_count = ends[1] - a_from;
    let count = min(1024, all - first);
    let b_from = first - a_from;
    for (k in local_id.x .. count step 128) {
        if (k < a_count) {
            tile[k] = a[a_from + k];
        } else {
            tile[k] = b[b_from + k - a_count];
        }
    }
    barrier;
    let b_count = count - a_count;
    let diagonal = min(local_id.x * 8, count);
    let low = select(diagonal > b_count, diagonal - b_count, 0);
    let high = min(diagonal, a_count);
    while (low < high) {
        let mid = (low + high) / 2;
        if (tile[mid] <= tile[a_count + diagonal - 1 - mid]) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    let i = low;
    let j = a_count + diagonal - low;
    for (k in diagonal .. min(diagonal + 8, count)) {
        let takes_a = j >= count || (i < a_count && tile[i] <= tile[j]);
        if (takes_a) {
            c[first + k] = tile[i];
            i = i + 1;
        } else {
            c[first + k] = tile[j];
            j = j + 1;
        }
    }
}
