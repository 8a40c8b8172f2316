program p workgroup(64) elements(64) {
    in n : u32[4];

    n[0] = 1;
}
// expect: 4:5: error[V063] `n` is read only
