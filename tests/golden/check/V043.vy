program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    barrier(relaxed);
}
// expect: 5:5: error[V043] a barrier can't be relaxed: it orders memory
