// Unlike a load, an atomic store does: another lane may have stored before or after.
program p workgroup(64) elements(64) {
    inout u : u32[64];

    atomic_store(u[0], global_id.x);
    if (u[0] == 1) {
        barrier;
    }
}
// expect: 7:9: error[V010] not all lanes of the workgroup come to this barrier together: the condition at line 6 varies
// expect: 6:9: note this condition is not the same for all lanes: it loads from `u`, which is written at line 5 with no grid_sync between
