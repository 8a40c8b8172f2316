// seed 150: a segment is refused: V010 not all lanes of the workgroup come to this barrier together
program p workgroup(1) grid(1, 1) {
    out out_3 : u8[1];
    private private_9 : i16[1];

    let v_14 = 1;
    let v_15 = 1i;
    for (i_20 in 0 .. out_3[0]) {
    }
    grid_sync;
    v_15 = 0i;
    for (i_24 in v_14 .. 1) {
        barrier;
    }
    v_14 = 0;
    out_3[0] = 0;
    grid_sync;
    private_9[0] = v_15;
    private_9[out_3[0]] = 0i;
}
