// Ways of the Lorenz system from many starts, each a lane, by the classical method of Runge and Kutta in f64.
program lorenz workgroup(64) elements(starts) {
    param starts : u32 = 100;
    param steps  : u32 = 5;
    in    start  : f64[starts * 3]; // all x, all y, all z
    out   end    : f64[starts * 3];

    fn dx(x : f64, y : f64) -> f64 {
        return 10.0d * (y - x);
    }
    fn dy(x : f64, y : f64, z : f64) -> f64 {
        return x * (28.0d - z) - y;
    }
    fn dz(x : f64, y : f64, z : f64) -> f64 {
        return x * y - 2.6666666666666665d * z;
    }

    let i = global_id.x;
    if (i >= starts) {
        exit;
    }
    let t = 0.005d;
    let x = start[i];
    let y = start[starts + i];
    let z = start[2 * starts + i];
    for (k in 0 .. steps) {
        let x1 = dx(x, y);
        let y1 = dy(x, y, z);
        let z1 = dz(x, y, z);
        let xa = x + 0.5d * t * x1;
        let ya = y + 0.5d * t * y1;
        let za = z + 0.5d * t * z1;
        let x2 = dx(xa, ya);
        let y2 = dy(xa, ya, za);
        let z2 = dz(xa, ya, za);
        let xb = x + 0.5d * t * x2;
        let yb = y + 0.5d * t * y2;
        let zb = z + 0.5d * t * z2;
        let x3 = dx(xb, yb);
        let y3 = dy(xb, yb, zb);
        let z3 = dz(xb, yb, zb);
        let xc = x + t * x3;
        let yc = y + t * y3;
        let zc = z + t * z3;
        x = x + t / 6.0d * (x1 + 2.0d * (x2 + x3) + dx(xc, yc));
        y = y + t / 6.0d * (y1 + 2.0d * (y2 + y3) + dy(xc, yc, zc));
        z = z + t / 6.0d * (z1 + 2.0d * (z2 + z3) + dz(xc, yc, zc));
    }
    end[i] = x;
    end[starts + i] = y;
    end[2 * starts + i] = z;
}
