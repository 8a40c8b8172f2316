program p workgroup(64) elements(64) {
    inout f : f32[2][2][2][2];
    in g : f32[4][];
    fn h(a : in f32[][][][]) { }
}
// expect: 2:18: error[V290] memory has at most 3 dimensions, not 4
// expect: 3:18: error[V290] only the first dimension is left to the caller
// expect: 4:20: error[V290] memory has at most 3 dimensions, not 4
