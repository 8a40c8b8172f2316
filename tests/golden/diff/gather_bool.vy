// A collective copies words as they are, and does so behind the last statement too.
program p workgroup(1) grid(1, 1) {
    in in_1 : bool[1];
    inout inout_6 : bool[1];

    all_gather(in_1, inout_6);
}
