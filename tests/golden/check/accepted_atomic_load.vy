// An atomic load writes nothing, so that loads of the element stay uniform.
program p workgroup(64) elements(64) {
    in    n : u32[1];
    inout u : u32[64];
    out   o : u32[64];

    let seen = atomic_load(u[0], relaxed) + atomic_load(n[0]);
    if (u[0] == 1) {
        barrier;
    }
    o[global_id.x] = seen;
}
