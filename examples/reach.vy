// run: vyre run examples/reach.vy --in row,col=grid:48:48 --in gen=random:4608:1 --in kill=random:4608:2
//
// Reaching definitions, a dataflow analysis: which definitions may reach the end of each block of a
// control-flow graph? Sets are rows of 64-bit words, `row` and `col` list the predecessors of each
// block, and
//     reach(b) = gen(b) | (union of reach(p) over the predecessors p, without kill(b)).
// The `while` goes on until nothing changes. With `--set sweeps=1 --iterations 1000` the runtime
// repeats the program instead and looks for the fixpoint itself; the bytes are the same.
program reach workgroup(256) elements(4096) {
    in      row    : u32[];
    in      col    : u32[];
    in      gen    : u64[];
    in      kill   : u64[len(gen)];
    out     reach  : u64[len(gen)];
    scratch next   : u64[len(gen)];
    param   sweeps : u32 = 0xffffffff; // at most

    let words = len(gen) / (len(row) - 1); // of a set
    let sweep = 0;
    let more = true;
    while (more && sweep < sweeps) {
        for (i in global_id.x .. len(gen) step global_size.x) {
            let block = i / words;
            let arriving = 0ul;
            for (e in row[block] .. row[block + 1]) {
                arriving |= reach[col[e] * words + i % words];
            }
            next[i] = gen[i] | (arriving & ~kill[i]);
        }
        grid_sync;
        let changed = false;
        for (i in global_id.x .. len(gen) step global_size.x) {
            if (next[i] != reach[i]) {
                reach[i] = next[i];
                changed = true;
            }
        }
        more = grid_any(changed);
        sweep += 1;
    }
}
