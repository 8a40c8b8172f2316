// Contrast of an image: count the levels, sum the counts up, map each pixel.
program equalize workgroup(256) elements(32768) {
    in        image : u8[];
    out       even  : u8[len(image)];
    scratch   count : u32[256];
    scratch   level : u32[256];
    workgroup mine  : u32[256];

    for (i in global_id.x .. len(image) step global_size.x) {
        atomic_add(mine[image[i]], 1, relaxed);
    }
    barrier;
    atomic_add(count[local_id.x], mine[local_id.x], relaxed);
    grid_sync;
    if (group_id.x == 0) {
        let sum = 0;
        for (k in 0 .. local_id.x + 1) {
            sum = sum + count[k];
        }
        level[local_id.x] = u32(u64(sum) * 255 / u64(len(image)));
    }
    grid_sync;
    for (i in global_id.x .. len(image) step global_size.x) {
        even[i] = level[image[i]];
    }
}
