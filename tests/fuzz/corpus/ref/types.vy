program types workgroup(4) {
    inout a : i8[]; inout b : u16[]; inout c : f16[]; inout d : bf16[]; inout e : bool[]; inout f : f64[]; inout g : u64[];
    const k : i32 = 3;
    let i = global_id.x + global_id.y * global_size.x;
    a[i] = i32(f[i]) * k - i32(a[i]);
    b[i] = rotl(b[i], 3u) ^ popcount(u32(b[i]));
    c[i] = fma(c[i], 2.0, -1.5) / sqrt(abs(d[i]));
    d[i] = f32(bf16(f16(f[i]))) + exp(0.5) * sin(c[i]);
    e[i] = !e[i] || is_nan(c[i]) && i < 3;
    f[i] = max(f[i], -0.0d) + f64(g[i]);
    g[i] = mul_high(g[i], 0xffffffffffff) + sat_mul(g[i], 3) + u64(abs_diff(-3i, i32(i)));
}
