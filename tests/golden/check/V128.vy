program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    async_wait("");
}
// expect: 5:5: error[V128] the tag to wait for is empty
