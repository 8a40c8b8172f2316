// seed 189: a segment is refused: V010 not all lanes of the workgroup come to this barrier together
program p workgroup(1) grid(1, 1) {
    inout inout_0 : u32[1];
    inout inout_2 : i32[1];

    let v_8 = false;
    inout_2[0] = 0i;
    grid_sync;
    if (v_8) {
    } else {
        v_8 = true;
        inout_0[0] = 0;
        barrier;
        inout_2[0] = 0i;
    }
    grid_sync;
    inout_0[0] = u32(v_8);
}
