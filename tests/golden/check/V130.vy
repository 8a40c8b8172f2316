program p workgroup(64) elements(64) {
    out o : u32[];

    o[0] = 1;
}
// expect: 2:5: error[V130] out `o` needs a size
