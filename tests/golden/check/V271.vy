program p workgroup(64) elements(64) {
    inout b : u8[4];

    atomic_add(b[0], 1);
}
// expect: 4:5: error[V271] atomic_add can't work on elements of type u8
