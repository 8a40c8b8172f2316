program p workgroup(64) elements(64) {
    inout f : f32[64];
    scratch u : u32[64];

    swap(f, u);
}
// expect: 5:5: error[V282] `f` has f32 elements, `u` has u32
