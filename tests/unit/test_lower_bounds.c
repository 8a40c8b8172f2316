/* Bounds made explicit: the same results, tests only where they are needed. */
#include "unit/lowering.h"

TEST(results_stay_the_same) {
    lowering_same(
        "program p workgroup(4) elements(64) { in x : u32[]; out y : u32[8]; out z : u32[40]; "
        "let i = global_id.x; y[i] = x[i] + x[i + 200] + x[x[i]]; "
        "z[2 * (i ^ 5)] = x[300 - i]; }",
        "bounds", 1);
    lowering_same("program p workgroup(4) elements(4) { in h : f16[]; in b : bool[]; in w : u64[]; "
                  "out y : f32[4]; out z : u64[2]; out t : bool[3]; "
                  "let i = global_id.x; y[i] = h[i * 300] + select(b[i * 100], 1.0, 2.0); "
                  "if (i < 3) { z[i] = w[i * 70]; t[i + 1] = b[i * 200]; } }",
                  "bounds", 2);
    lowering_same("program p workgroup(4) elements(4) { in x : u32[]; out c : u32[2]; "
                  "out s : i64[3]; out y : u32[16]; workgroup v : u32[4]; private q : u32[2]; "
                  "let i = global_id.x; if (i == 0) { for (k in 0 .. 5) { "
                  "let o = atomic_cas(c[k], 0, k + 7); atomic_add(c[k], 1); "
                  "let m = atomic_max(s[k], i64(k)); q[k] = o + u32(m); v[k] = o; y[k] = q[k] + 1; "
                  "y[k + 5] = v[k] + o; } } }",
                  "bounds", 3);
    lowering_same("program p workgroup(1) elements(1) { in x : u32[]; out y : u32[4]; let i = 0; "
                  "while (x[i] != 0 && i < 300) { i = i + 1; if (x[i + 1] % 3 == 0) { continue; } "
                  "y[i & 7] = i; } for (k in x[i + 400] .. 3) { y[k + i] = k; } }",
                  "bounds", 4);
}

/* A function is inlined even if the device has calls: its accesses must be tested too. */
TEST(functions_are_tested_too) {
    const char *text = "program p workgroup(4) elements(4) { in x : u32[]; out y : u32[2]; "
                       "fn f(i : u32) -> u32 { y[i] = i; return x[i]; } y[f(global_id.x)] = 1; }";
    vyre_program *source = run_parse(text);
    vyre_program *lowered = lowering_of(source, "bounds");
    CHECK_EQ(vyre_program_get(lowered)->fn_count, 0);
    vyre_program_release(lowered);
    vyre_program_release(source);
    lowering_same(text, "bounds", 5);
}

TEST(what_is_proven_stays_as_it_is) {
    vyre_program *source =
        run_parse("program p workgroup(64) elements(len(y)) { in x : f32[len(y)]; inout y : f32[]; "
                  "workgroup w : f32[64]; w[local_id.x] = 1.0; barrier; "
                  "for (i in global_id.x .. len(y) step global_size.x) { y[i] = x[i] + w[63 - "
                  "local_id.x]; } }");
    vyre_program *lowered = lowering_of(source, "bounds");
    CHECK(lowered == source);
    vyre_program_release(lowered);
    vyre_program_release(source);
}

static vyre_status lower_with(const vyre_allocator *a, void *user) {
    vyre_capabilities can;
    vyre_diag diag = {0};
    vyre_program *lowered = NULL;
    vyre_status status = vyre_capabilities_named("bounds", &can, &diag);
    if (status == VYRE_OK) {
        status = vyre_lower(user, &can, a, &lowered, &diag);
    }
    vyre_program_release(lowered);
    return status;
}

TEST(memory_may_run_out_anywhere) {
    vyre_program *p =
        run_parse("program p workgroup(2) elements(4) { in x : u32[]; out y : u32[4]; "
                  "while (x[y[0]] > 3) { let o = atomic_add(y[x[1]], 1); y[o] = o; } }");
    CHECK(test_every_allocation(lower_with, p, 300) > 20);
    vyre_program_release(p);
}
