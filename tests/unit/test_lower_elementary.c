/* Elementary functions as core operations: the same bits, wherever they stand. */
#include <math.h>

#include "unit/lowering.h"

TEST(every_function_gives_the_same_bits) {
    for (uint32_t op = 0; op < VYRE_EXPR_COUNT; op++) {
        const vyre_expr_info *info = vyre_expr_info_of((vyre_expr_op)op);
        if (info->operands != VYRE_OPERANDS_ELEMENTARY) {
            continue;
        }
        for (uint32_t wide = 0; wide < 2; wide++) {
            const unsigned width = wide ? 64 : 32;
            char text[640];
            snprintf(text, sizeof text,
                     "program p workgroup(64) elements(256) { in x : u%u[%u]; out y : u%u[4096];\n"
                     "  for (k in 0 .. 16) { let t = u%u(k);\n"
                     "    let b = x[global_id.x %% len(x)] * (2 * t + 1) + (t << %u); let f = "
                     "bitcast<f%u>(b);\n"
                     "    if (k == 0) { f = f%u(global_id.x) - 128.0; }\n"
                     "    let r = %s(f%s); // of a NaN the payload is open\n"
                     "    y[global_id.x * 16 + k] = select(is_nan(r), 1, bitcast<u%u>(r)); } }",
                     width, 8192 / width, width, width, width - 5, width, width, info->spelling,
                     info->arity == 1 ? ""
                     : wide           ? ", bitcast<f64>(x[k])"
                                      : ", bitcast<f32>(x[k])",
                     width);
            for (uint64_t seed = 0; seed < test_scaled(4); seed++) {
                lowering_same(text, "elementary", seed);
            }
        }
    }
}

TEST(functions_stand_anywhere) {
    /* In conditions of loops with jumps, bounds, indices, operands of each other, functions. */
    lowering_same(
        "program p workgroup(4) elements(8) { inout x : f32[256]; out y : f32[64];\n"
        "  fn wave(a : f32) -> f32 { return sin(a) + cos(a); }\n"
        "  let t = 0.25 + f32(global_id.x); let n = 0;\n"
        "  while (exp(t) < 1000.0 && log(t) < 9.0) {\n"
        "    n = n + 1; t = t + 0.5; if (n == 3) { continue; } if (n > u32(exp2(4.5))) { break; } "
        "}\n"
        "  for (i in u32(exp(0.5)) .. u32(sqrt(tan(1.5) * 4.0)) step u32(cosh(0.5))) {\n"
        "    y[global_id.x * 8 + u32(abs(sin(f32(i)) * 8.0)) % 8] = pow(exp(wave(t)), tanh(t)); }\n"
        "  if (sin(t) > 0.0) { y[global_id.x * 8] = t; } else if (cos(t) > 0.0) {\n"
        "    y[global_id.x * 8] = -t; } }",
        "elementary", 1);
}

TEST(what_is_claimed_stays) {
    vyre_program *p = run_parse("program p workgroup(1) elements(1) { out y : f32[2];\n"
                                "  y[0] = sin(y[1]) + cos(y[1]); }");
    vyre_program *lowered = lowering_of(p, "cos");
    const vyre_program_view *v = vyre_program_get(lowered);
    bool has_sin = false, has_cos = false;
    for (vyre_expr e = 0; e < v->expr_count; e++) {
        has_sin |= v->exprs[e].op == VYRE_EXPR_SIN;
        has_cos |= v->exprs[e].op == VYRE_EXPR_COS;
    }
    CHECK(has_sin && !has_cos);
    vyre_program_release(lowered);
    lowered = lowering_of(p, "all");
    CHECK(lowered == p);
    vyre_program_release(lowered);
    vyre_program_release(p);
}
