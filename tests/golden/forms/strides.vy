// Tiles of a group that lie far apart, and tiles that follow each other.
program strides workgroup(64) {
    param     by   : u32 = 1;
    in        x    : u32[];
    inout     y    : u32[len(x)];
    workgroup line : u32[64];

    for (tile in group_id.x .. len(x) / 64 step num_groups.x) {
        line[local_id.x] = x[tile * 64 + local_id.x];
        barrier;
        y[tile * 64 + local_id.x] = line[63 - local_id.x];
        barrier;
    }
    for (first in 0 .. len(x) step by * 64) {
        line[local_id.x] = x[first + local_id.x];
        barrier;
        y[first + local_id.x] = y[first + local_id.x] + line[63 - local_id.x];
        barrier;
    }
}
