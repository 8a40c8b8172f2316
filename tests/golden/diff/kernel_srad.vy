// After Rodinia srad: statistics of the image decide how each step smooths it.
program p workgroup(16) grid(4) {
    inout   image : u32[64];
    scratch c     : u32[64];
    scratch sum   : u32[2];

    let i = global_id.x;
    for (it in 0 .. 4) {
        let s = it & 1;
        atomic_add(sum[s], image[i] & 1023);
        grid_sync;
        let mean = sum[s] / global_size.x;
        if (mean == 0) {
            break;
        }
        if (i == 0) {
            sum[s ^ 1] = 0;
        }
        c[i] = (image[i] & 1023) * 4 / mean;
        grid_sync;
        let left = i == 0 ? 0 : c[i - 1];
        image[i] += left + c[i];
        grid_sync;
    }
}
