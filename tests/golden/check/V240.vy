program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    int i = blockIdx.x * blockDim.x + threadIdx.x;
    u[i] = 1;
    __syncthreads();
}
// expect: 5:5: error[V240] `int` is a type of C
// expect: 5:13: error[V240] `blockIdx` is a word of CUDA
// expect: 7:5: error[V240] `__syncthreads` is a word of CUDA
