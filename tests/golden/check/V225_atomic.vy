program p workgroup(64) elements(64) {
    inout u : u32[64];

    let x = atomic_store(u[0], 1);
}
// expect: 4:13: error[V225] `atomic_store` gives no value
