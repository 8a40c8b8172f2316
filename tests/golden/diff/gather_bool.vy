// A gathered bool is 0 or 1, whatever word it was.
program p workgroup(1) grid(1, 1) {
    in in_1 : bool[1];
    inout inout_6 : bool[1];

    all_gather(in_1, inout_6);
}
