program p workgroup(64) elements(64) {
    in n : u32[4];
    inout f : f32[4];

    all_gather(n, f);
}
// expect: 5:5: error[V046] a collective from u32 to f32 elements
