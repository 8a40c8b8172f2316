program p workgroup(64) elements(64) {
    inout u : tensor[4];

    u[0] = 1;
}
// expect: 2:15: error[V213] type `tensor` is not supported
