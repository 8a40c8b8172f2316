program p workgroup(64) elements(64) {
    in n : u32[];
    workgroup w : u32[len(n)];

    w[0] = 1;
}
// expect: 3:23: error[V244] the size of workgroup `w` is not a constant
