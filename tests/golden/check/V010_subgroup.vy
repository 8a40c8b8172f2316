// A barrier is for the whole group, of which each subgroup may go its own way.
program p workgroup(64) elements(64) {
    inout u : u32[64];

    let sum = subgroup_add(u[local_id.x]);
    if (sum > 3) {
        barrier;
    }
}
// expect: 7:9: error[V010] not all lanes of the workgroup come to this barrier together: the condition at line 6 varies
// expect: 6:9: note this condition is not the same for all lanes: it depends on `sum`
// expect: 5:15: note `sum` varies: it is the result of a subgroup operation
