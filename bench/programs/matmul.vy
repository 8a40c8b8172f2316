// C = A B for square matrices, 16x16 tiles in workgroup memory. `fma` is in the source, as C compilers
// contract the peers. The size is a multiple of 16.
program matmul workgroup(16, 16) grid(n / 16, n / 16) {
    param     n  : u32 = 64;
    in        a  : f32[n * n];
    in        b  : f32[n * n];
    out       c  : f32[n * n];
    workgroup ta : f32[256];
    workgroup tb : f32[256];

    let x = local_id.x;
    let y = local_id.y;
    let sum = 0.0;
    for (first in 0 .. n step 16) {
        ta[y * 16 + x] = a[global_id.y * n + first + x];
        tb[y * 16 + x] = b[(first + y) * n + global_id.x];
        barrier;
        for (k in 0 .. 16) {
            sum = fma(ta[y * 16 + k], tb[k * 16 + x], sum);
        }
        barrier;
    }
    c[global_id.y * n + global_id.x] = sum;
}
