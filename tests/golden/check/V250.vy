program p workgroup(64) elements(64) {
    inout u : u32[4] returns(8 .. 20);

    u[0] = 1;
}
// expect: 2:5: error[V250] bytes 8 to 20 of `u` can't be returned
