// Scans by doubling steps: one that is a walk of the first lane, one that steps too far.
program scans workgroup(64) elements(len(x)) {
    in        x    : u32[];
    out       sums : u32[len(x)];
    out       some : u32[len(x)];
    workgroup line : u32[64];

    let lane = local_id.x;
    line[lane] = x[global_id.x];
    barrier;
    let reach = 1;
    while (reach < 64) {
        let left = lane >= reach ? line[lane - reach] : 0;
        barrier;
        line[lane] = line[lane] + left;
        barrier;
        reach = reach * 2;
    }
    sums[global_id.x] = line[lane];
    let far = 1;
    while (far < 64) {
        let left = lane >= far ? line[lane - far] : 0;
        barrier;
        line[lane] = line[lane] + left;
        barrier;
        far = far * 4;
    }
    some[global_id.x] = line[lane];
}
