// seed 37: a segment is refused: V269 not all lanes of the workgroup come to this subgroup_or together
program p workgroup(1) grid(1, 1) {

    fn f_11(lane : u32, group_lane : u32, uniform : u32, x : u32) -> u32 {
        while (uniform < 1) {
            let s_14 = subgroup_or(0ul);
        }
        grid_sync;
        return 1;
    }

    for (i_25 in 0 .. 0 step 1) {
        let r_29 = f_11(0, 0, i_25, 0);
    }
}
