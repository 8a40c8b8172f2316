// The cosine transform of each 8 x 8 pixels, as pictures are compressed: a workgroup for each block.
program dct8 workgroup(8, 8) grid(width / 8, height / 8) {
    param     width  : u32 = 64; // both multiples of 8
    param     height : u32 = 64;
    in        image  : u8[width * height];
    in        basis  : f32[64];
    in        scale  : f32[64]; // one over the step of each coefficient
    out       coded  : f32[width * height];
    workgroup pixel  : f32[64];
    workgroup half   : f32[64];

    let x = local_id.x;
    let y = local_id.y;
    let at = global_id.y * width + global_id.x;
    pixel[y * 8 + x] = f32(image[at]) - 128.0;
    barrier;
    let sum = 0.0;
    for (k in 0 .. 8) {
        sum = sum + basis[y * 8 + k] * pixel[k * 8 + x];
    }
    half[y * 8 + x] = sum;
    barrier;
    sum = 0.0;
    for (k in 0 .. 8) {
        sum = sum + half[y * 8 + k] * basis[x * 8 + k];
    }
    coded[at] = sum * scale[y * 8 + x];
}
