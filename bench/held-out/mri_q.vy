// The matrix Q of an image from samples in frequency space: for each voxel a sum over all samples of a wave
// at its place. Samples come into workgroup memory 256 at a time.
program mri_q workgroup(256) elements(voxels) {
    param     voxels  : u32 = 300;
    param     samples : u32 = 33;
    in        x       : f32[voxels];
    in        y       : f32[voxels];
    in        z       : f32[voxels];
    in        sample  : f32[samples * 4]; // kx, ky, kz and the square of its magnitude
    out       real    : f32[voxels];
    out       imag    : f32[voxels];
    workgroup kx      : f32[256];
    workgroup ky      : f32[256];
    workgroup kz      : f32[256];
    workgroup size    : f32[256];

    let v = global_id.x;
    let lane = local_id.x;
    let px = v < voxels ? x[v] : 0.0;
    let py = v < voxels ? y[v] : 0.0;
    let pz = v < voxels ? z[v] : 0.0;
    let re = 0.0;
    let im = 0.0;
    for (first in 0 .. samples step 256) {
        let k = first + lane;
        if (k < samples) {
            kx[lane] = sample[k * 4];
            ky[lane] = sample[k * 4 + 1];
            kz[lane] = sample[k * 4 + 2];
            size[lane] = sample[k * 4 + 3];
        }
        barrier;
        for (j in 0 .. min(samples - first, 256)) {
            let turn = 6.2831853 * (kx[j] * px + ky[j] * py + kz[j] * pz);
            re = re + size[j] * cos(turn);
            im = im + size[j] * sin(turn);
        }
        barrier;
    }
    if (v < voxels) {
        real[v] = re;
        imag[v] = im;
    }
}
