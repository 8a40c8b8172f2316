program p workgroup(64) elements(64) {
    inout u : u32[64];
    opaque fn meet() {
        barrier;
    }
    meet();
}
// expect: 3:5: error[V031] `meet` is opaque and waits for other lanes
