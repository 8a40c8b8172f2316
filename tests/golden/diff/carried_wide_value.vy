// A value of 64 bits is carried over a barrier and read as two words: that is two types for one
// memory, which a compiler of C may take for two memories.
program p workgroup(1) grid(1, 1, 1) {
    inout inout_0 : u32[1];
    out out_6 : f32[72];
    inout inout_7 : f32[72];
    inout inout_8 : f32[1];
    workgroup workgroup_9 : u16[1];

    let v_21 = 1l;
    while (false) {
        v_21 = 1l;
        workgroup_9[0] = 0;
    }
    swap(out_6, inout_7);
    inout_8[0] = f32(v_21);
    inout_0[0] = workgroup_9[0];
}
