// run: vyre run examples/saxpy.vy --in x=iota:1000 --in y=random:1000:1 --set a=0.5
//
// y = a * x + y. The lanes stride over the elements, so any grid gives the same result.
program saxpy workgroup(256) elements(len(y)) {
    in    x : f32[len(y)];
    inout y : f32[];
    param a : f32 = 2.0;

    for (i in global_id.x .. len(y) step global_size.x) {
        y[i] = a * x[i] + y[i];
    }
}
