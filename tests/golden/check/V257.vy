program p workgroup(64) elements(64) {
    inout d : f64[4];

    d[0] = exp(d[0]);
}
// expect: 4:16: error[V257] `exp` of f64 is not supported yet
