workgroup(64) {
}
// expect: 1:1: error[V209] expected `program`, found `workgroup`
