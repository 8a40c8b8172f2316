program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    u[64] = 1;
    u[0] = u[100];
}
// expect: 5:7: warning[V036] element 64 of `u`, which has 64: loads give 0, stores do nothing
// expect: 6:14: warning[V036] element 100 of `u`, which has 64: loads give 0, stores do nothing
