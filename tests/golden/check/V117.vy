program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    async_load(u, u, 0, 4, "");
}
// expect: 5:5: error[V117] the tag of a copy is empty
