// A scan gives each lane its own, and so does a shuffle that asks each for another lane.
program p workgroup(64) elements(64) {
    inout u : u32[64];

    let before = subgroup_scan_add(1);
    let other = subgroup_shuffle(7, before);
    if (other == 0) {
        u[0] = subgroup_add(1);
    }
}
// expect: 8:16: error[V269] not all lanes of the subgroup come to this subgroup_add together: the condition at line 7 varies
// expect: 7:9: note this condition is not the same for all lanes: it depends on `other`
// expect: 6:17: note `other` varies: its value here depends on `before`
// expect: 5:18: note `before` varies: it is the result of a subgroup operation
