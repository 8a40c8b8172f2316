program p workgroup(64) elements(64) {
    const n = 32;
    inout f : f32[64];
    scratch g : f32[n];

    swap(f, g);
}
// expect: 6:5: error[V282] `f` has 64 elements, `g` has 32
