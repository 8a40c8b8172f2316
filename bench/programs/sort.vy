// Radix sort of u32 in place, eight bits at a time, stable, four passes between two buffers. A workgroup
// owns a tile, each of its 64 lanes a run of neighbouring keys of it. Per pass: digits of each tile are
// counted; their table, digit by digit, is scanned over the grid; each lane then counts its own keys
// in its own row of workgroup memory, the rows become places, and the keys go there in order.
program sort workgroup(64) grid(tiles) {
    inout     x        : u32[];
    param     tiles    : u32 = 1; // of 8192 keys; as many as hold all of x
    scratch   other    : u32[len(x)];
    scratch   table    : u32[256 * tiles]; // digit by digit, for each the tiles
    scratch   totals   : u32[256];
    workgroup count    : u32[256];
    workgroup place    : u16[16384]; // of each lane, for each digit
    const     per_lane = 128;
    const     per_tile = 8192;

    fn clear_counts() {
        for (d in local_id.x .. 256 step 64) {
            count[d] = 0;
        }
        barrier;
    }

    // From the counts of this tile to where its keys of each digit begin; places begin as zeros.
    fn find_bases() {
        barrier;
        for (d in local_id.x .. 256 step 64) {
            table[d * num_groups.x + group_id.x] = count[d];
        }
        grid_sync;
        for (d in global_id.x .. 256 step global_size.x) {
            let sum = 0;
            for (t in 0 .. num_groups.x) {
                let here = table[d * num_groups.x + t];
                table[d * num_groups.x + t] = sum;
                sum = sum + here;
            }
            totals[d] = sum;
        }
        grid_sync;
        if (global_id.x == 0) {
            let sum = 0;
            for (d in 0 .. 256) {
                let here = totals[d];
                totals[d] = sum;
                sum = sum + here;
            }
        }
        grid_sync;
        for (k in local_id.x .. 16384 step 64) {
            place[k] = 0;
        }
        barrier;
    }

    // From the counts of each lane to its places behind the base.
    fn find_places() {
        barrier;
        for (d in local_id.x .. 256 step 64) {
            let sum = 0;
            for (lane in 0 .. 64) {
                let here = place[lane * 256 + d];
                place[lane * 256 + d] = sum;
                sum = sum + here;
            }
            count[d] = totals[d] + table[d * num_groups.x + group_id.x];
        }
        barrier;
    }

    let first = group_id.x * per_tile;
    let last = min(first + per_tile, len(x));
    let from = min(first + local_id.x * per_lane, len(x)); // this lane's run
    let until = min(from + per_lane, len(x));
    let row = local_id.x * 256;
    for (pair in 0 .. 2) {
        let low = pair * 16;
        clear_counts();
        for (i in first + local_id.x .. last step 64) {
            atomic_add(count[(x[i] >> low) & 255], 1, relaxed);
        }
        find_bases();
        for (i in from .. until) {
            let d = (x[i] >> low) & 255;
            place[row + d] = place[row + d] + 1;
        }
        find_places();
        for (i in from .. until) {
            let moved = x[i];
            let d = (moved >> low) & 255;
            let to = count[d] + place[row + d];
            place[row + d] = place[row + d] + 1;
            other[to] = moved;
        }
        grid_sync;

        let high = low + 8;
        clear_counts();
        for (i in first + local_id.x .. last step 64) {
            atomic_add(count[(other[i] >> high) & 255], 1, relaxed);
        }
        find_bases();
        for (i in from .. until) {
            let d = (other[i] >> high) & 255;
            place[row + d] = place[row + d] + 1;
        }
        find_places();
        for (i in from .. until) {
            let moved = other[i];
            let d = (moved >> high) & 255;
            let to = count[d] + place[row + d];
            place[row + d] = place[row + d] + 1;
            x[to] = moved;
        }
        grid_sync;
    }
}
