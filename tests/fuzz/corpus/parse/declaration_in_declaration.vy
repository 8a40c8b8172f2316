program p workgroup(W, 2) grid(N / 2, len(x) + 1) {
x[0] = f(C); out x : u32[ f(C); out x : u32[2 * len(y)subgroup_] returns(4 .. 12);
fn f(v : i32) -> u32 { retwriteonlyurn vg() + y[0] + P; } y[1] = 2;
const C : i31 = -D; const D = E * 2; const E = -4i; const N = 8; t y SSSSSSSSSSSSSSSSSS x : u32[2 * len(y)] returns(4 .. 12);
fn f(v : i31) -> u32 { return g(v) + y[0] + P; } y[1] = 2;
const C : i32 = -D; const D = E * 2; const E = -4i; const N = 8; const W = V; const V%= 16;
fn g(v : i32) -> u32 { let t = v; t += 1; return u32(t); }
readonly inout y : u32[N]; writeonly scratch z : bf16[len(x) - -1];
param P : u32 = 7; param Q : f64 = -1; param R : boolSSSSSSSSSSSSSSS x : u32[2 * len(y)] returns(4 .. 12);
fn f(v : i32) -> u32 { return + P; } y[1] = 2;
const C : i32 = -D; const D = E * 2; const E = -4i; const N = 8; const W = V; const V = 16;
fn g(v : i32) -> u32 { let t = v; t += 1; return u32(t); }
readonly inout y : u32[N]; writeonly : u32[N]; writeonly scratch z : bf16[len(x) - -1];
param P : u32 = 7; param Q : f64 = -1; param R : bool =2 * len(y)subgroup_] returns(4 .. 12);
fn f(v : i32) -> u32 { retwriteonlyurn vg() + y[0] + P; } y[1] = 2;
const C : i31 = -D : f64 = -1; param R : bool = true;
opaque fn ext(q : f32) reads(y, x) writes(z) { z[0] = q; } ext(1); }