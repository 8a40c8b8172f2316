program p workgroup(64) elements(64) {
    writeonly out o : u32[4];

    o[0] = o[1];
}
// expect: 4:12: error[V251] `o` is write-only here
