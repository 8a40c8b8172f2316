// Fourier transform of 4^k complex numbers, radix 2, self sorting: from one pair of buffers to the other
// and back. A lane does one butterfly of each stage.
program fft workgroup(256) elements(len(re) / 2) {
    in      re   : f32[];
    in      im   : f32[len(re)];
    in      root : f32[len(re)]; // cos, -sin of 2 pi k / n, for k below n / 2
    out     x    : f32[len(re)];
    out     y    : f32[len(re)];
    scratch u    : f32[len(re)];
    scratch v    : f32[len(re)];

    let half = len(re) / 2;
    let i = global_id.x;
    if (i < half) {
        x[i] = re[i];
        y[i] = im[i];
        x[i + half] = re[i + half];
        y[i + half] = im[i + half];
    }
    grid_sync;
    let done = 1;
    while (done < len(re)) {
        if (i < half) {
            let k = i % done;
            let to = (i - k) * 2 + k;
            let c = root[2 * k * (half / done)];
            let s = root[2 * k * (half / done) + 1];
            let a = fma(x[i + half], c, -(y[i + half] * s));
            let b = fma(x[i + half], s, y[i + half] * c);
            u[to] = x[i] + a;
            v[to] = y[i] + b;
            u[to + done] = x[i] - a;
            v[to + done] = y[i] - b;
        }
        grid_sync;
        done = done * 2;
        if (i < half) {
            let k = i % done;
            let to = (i - k) * 2 + k;
            let c = root[2 * k * (half / done)];
            let s = root[2 * k * (half / done) + 1];
            let a = fma(u[i + half], c, -(v[i + half] * s));
            let b = fma(u[i + half], s, v[i + half] * c);
            x[to] = u[i] + a;
            y[to] = v[i] + b;
            x[to + done] = u[i] - a;
            y[to + done] = v[i] - b;
        }
        grid_sync;
        done = done * 2;
    }
}
