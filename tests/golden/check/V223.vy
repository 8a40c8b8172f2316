program p workgroup(64) elements(64) {
    inout v : u32[4];
    inout u : u32[atomic_add(v[0], 1)];

    u[0] = 1;
}
// expect: 3:19: error[V223] `atomic_add` has an effect and can't stand in a declaration or clause
