program p workgroup(64) elements(64) {
    inout f : f32[64];
    inout u : u32[64];

    async_wait("\q");
}
// expect: 5:16: error[V226] this string has an unknown escape
