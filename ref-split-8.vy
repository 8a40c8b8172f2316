// seed 8: a segment is refused: V010 not all lanes of the workgroup come to this barrier together
program p workgroup(1) elements(1) {
    inout inout_2 : u64[1];

    for (i_18 in 0 .. 0 step 1) {
        broadcast(inout_2, 0);
        while (i_18 < 1) {
            barrier;
        }
    }
}
