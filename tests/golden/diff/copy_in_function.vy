// Two calls of one function: each inlined copy needs a tag of its own.
program p workgroup(1) grid(1, 1) {
    in in_1 : bool[1];
    private private_5 : bool[1];

    fn f_10(lane : u32, group_lane : u32, uniform : u32, x : i64) -> f64 {
        async_load(in_1, private_5, 0, 0, "copy12");
        async_wait("copy12");
        return 0.0d;
    }

    let r_21 = f_10(0, 0, 0, 0l);
    let r_22 = f_10(0, 0, 0, 0l);
}
