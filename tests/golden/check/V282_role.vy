program p workgroup(64) elements(64) {
    in f : f32[64];
    inout g : f32[64];

    swap(f, g);
}
// expect: 5:5: error[V282] in `f` can't be swapped
