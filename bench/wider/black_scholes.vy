// Prices of European options: exponentials, logarithms and a polynomial for each element.
program black_scholes workgroup(256) elements(len(price)) {
    in    price  : f32[]; // all inputs from 0 to 1, scaled here
    in    strike : f32[len(price)];
    in    years  : f32[len(price)];
    out   call   : f32[len(price)];
    out   put    : f32[len(price)];
    const rate   : f32 = 0.02;
    const sigma  : f32 = 0.3;

    // The normal distribution.
    fn normal(d : f32) -> f32 {
        let k = 1.0 / (1.0 + 0.2316419 * abs(d));
        let inner = 0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)));
        let tail = 0.39894228 * exp(-0.5 * d * d) * k * inner;
        return select(d > 0.0, 1.0 - tail, tail);
    }

    let i = global_id.x;
    if (i < len(price)) {
        let s = 5.0 + 25.0 * price[i];
        let k = 1.0 + 99.0 * strike[i];
        let t = 0.25 + 9.75 * years[i];
        let root = sqrt(t);
        let d1 = (log(s / k) + (rate + 0.5 * sigma * sigma) * t) / (sigma * root);
        let d2 = d1 - sigma * root;
        let n1 = normal(d1);
        let n2 = normal(d2);
        let discount = k * exp(-rate * t);
        call[i] = s * n1 - discount * n2;
        put[i] = discount * (1.0 - n2) - s * (1.0 - n1);
    }
}
