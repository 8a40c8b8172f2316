/* Emitted text: that calls fail cleanly, and what the text says of things that goldens do not have.
 * Whole files are compared byte by byte in tests/cli/emit.sh, and run in tests/diff. */
#include "base/text.h"
#include "harness/run.h"
#include "vyre/emit.h"

static bool collect(void *user, const char *text, size_t length) {
    vyre_text_append(user, text, length);
    return true;
}

static bool refuse(void *user, const char *text, size_t length) {
    (void)user, (void)text, (void)length;
    return false;
}

static const char program[] =
    "program p workgroup(2) elements(4) {\n"
    "  inout x : u32[4]; workgroup t : u32[2]; private a : u32[2]; scratch s : f16[len(x) * 2];\n"
    "  const n = 3; const big = 1.0d / 0.0d;\n"
    "  let i = global_id.x; let v = x[i]; t[local_id.x] = v; a[i % 2] = v; barrier;\n"
    "  if (v == 77) { trap(\"q\\\"?\", v); } x[i] = t[1 - local_id.x] + u32(sin(f32(v)) * 9.0) + "
    "n;\n"
    "  s[i] = f32(v); let w = subgroup_add(v); x[i] = x[i] + u32(f64(w) * big);\n"
    "  grid_sync;\n"
    "  while (x[0] < 9) { grid_sync; x[i] = x[i] + v + a[i % 2] + u32(s[3 - i]); grid_sync; } }";

static vyre_status emit(const char *text, vyre_text *out) {
    vyre_program *p = run_parse(text);
    vyre_diag diag = {0};
    vyre_text_init(out, NULL);
    const vyre_status status = vyre_emit(p, NULL, NULL, collect, out, &diag);
    CHECK_STATUS(status, VYRE_OK, &diag);
    vyre_program_release(p);
    return status;
}

TEST(text_says_what_the_program_says) {
    vyre_text text;
    REQUIRE_OK(emit(program, &text), NULL);
    const char *shown = vyre_text_string(&text);
    CHECK_HAS(shown, "int p_run(const p_args *args, p_trap *trap) {");
    CHECK_HAS(shown, "{\"q\\042\\077\", 5}"); /* recorded: subgroups need all lanes */
    CHECK_HAS(shown, "* vy_f64_of_bits(9218868437227405312ull)");
    CHECK_HAS(shown, "uint32_t a[2] = {0};");
    CHECK_HAS(shown, "vy_size('*', 4u, 2ll, &vy_bad)");
    CHECK(strstr(shown, "sinf") == NULL);
    vyre_text again;
    REQUIRE_OK(emit(program, &again), NULL);
    CHECK_STR(vyre_text_string(&again), shown);
    vyre_text_finish(&again);
    vyre_text_finish(&text);
}

/* Some compilers take it for 0.0 where they know it. */
TEST(minus_zero_is_hidden) {
    vyre_text text;
    REQUIRE_OK(
        emit("program p workgroup(1) elements(4) { inout x : f32[4]; param y : f64 = -0.0d;\n"
             "  x[global_id.x] = min(x[global_id.x], -0.0); }",
             &text),
        NULL);
    CHECK(strstr(vyre_text_string(&text), ", vy_minus_zero_f32());"));
    CHECK(!strstr(vyre_text_string(&text), "-0.0f"));
    vyre_text_finish(&text);
}

TEST(names_that_mean_something_in_c_are_changed) {
    vyre_text text;
    REQUIRE_OK(
        emit("program int workgroup(1) elements(1) { out vy_a : u32[1]; out UINT32_MAX : "
             "u32[1]; let float4 = 1; let linux = 2; { let y = linux; vy_a[0] = y + float4; } "
             "{ let y = 4; UINT32_MAX[0] = y; } }",
             &text),
        NULL);
    const char *shown = vyre_text_string(&text);
    CHECK_HAS(shown, "x_vy_a[0u] = y + x_float4;");
    CHECK_HAS(shown, "x_UINT32_MAX[0u] = y_2;");
    CHECK_HAS(shown, "uint32_t linux_2 = 2u;");
    CHECK_HAS(shown, "int int_run(const int_args *args");
    vyre_text_finish(&text);
}

/* PoCL 3.1 loses values of lanes where barriers stand behind a return of all: groups go on, and
 * nothing that others see happens, whatever proves the index or ends the loop. */
TEST(groups_that_end_before_a_barrier_go_on_in_opencl) {
    vyre_program *p = run_parse(
        "program p workgroup(4) grid(2) { inout x : u32[8]; inout y : u32[]; param n : u32;\n"
        "  workgroup t : u32[4]; let i = global_id.x; let l = local_id.x;\n"
        "  if (n == 3) { exit; } t[l] = n; barrier; x[l] = t[3 - l]; y[i] = 1;\n"
        "  let old = atomic_add(x[0], 1);  while (y[0] < n) { y[0] = y[0] + old; }\n"
        "  for (k in 0 .. 4) { x[i] = k; } if (l == 2) { exit; } y[i + 8] = 5; }");
    vyre_text text;
    vyre_text_init(&text, NULL);
    const vyre_emit_options options = {.target = VYRE_EMIT_OPENCL};
    REQUIRE_OK(vyre_emit(p, &options, NULL, collect, &text, NULL), NULL);
    const char *shown = vyre_text_string(&text);
    CHECK_HAS(shown, "    vy_live = vy_live & !(n == 3u); // line 3\n");
    CHECK_HAS(shown, "    t[l] = n; // line 3\n");
    CHECK_HAS(shown, "    if (vy_live) {\n        x[l] = t[3u - l]; // line 3\n    }\n");
    CHECK_HAS(shown, "    if (vy_live & (i < len_y)) {");
    CHECK_HAS(shown, "    uint32_t old = 0; // line 4\n    if (vy_live) {");
    CHECK_HAS(shown, "while (vy_live & (vy_load_u32(y, len_y, 0u) < n)) {");
    CHECK_HAS(shown, "vy_end_k = vy_live ? 4u : 0u; k < vy_end_k; k++) {");
    vyre_text_finish(&text);
    vyre_program_release(p);
}

typedef struct job {
    const vyre_program *program;
    vyre_emit_options options;
} job;

static vyre_status emit_with(const vyre_allocator *a, void *user) {
    const job *j = user;
    vyre_text text;
    vyre_text_init(&text, NULL);
    const vyre_status status = vyre_emit(j->program, &j->options, a, collect, &text, NULL);
    vyre_text_finish(&text);
    return status;
}

TEST(emitting_survives_failed_allocations) {
    vyre_program *p = run_parse(program);
    for (uint32_t target = 0; target < VYRE_EMIT_TARGETS; target++) {
        job j = {p, {.target = (vyre_emit_target)target}};
        CHECK(test_every_allocation(emit_with, &j, 200) > 100);
    }
    vyre_program_release(p);
}

TEST(bad_calls_fail) {
    vyre_program *p = run_parse(program);
    vyre_diag diag = {0};
    const vyre_emit_options none = {.target = VYRE_EMIT_TARGETS};
    CHECK_STATUS(vyre_emit(p, &none, NULL, refuse, NULL, &diag), VYRE_INVALID_ARGUMENT, &diag);
    CHECK_STATUS(vyre_emit(p, NULL, NULL, refuse, NULL, &diag), VYRE_IO, &diag);
    CHECK(vyre_emit_target_name(VYRE_EMIT_TARGETS) == NULL);
    CHECK_STR(vyre_emit_target_name(VYRE_EMIT_C), "c");
    CHECK_STR(vyre_emit_target_suffix(VYRE_EMIT_C), ".c");
    CHECK_STR(vyre_emit_target_name(VYRE_EMIT_OPENCL), "opencl");
    CHECK_STR(vyre_emit_target_suffix(VYRE_EMIT_OPENCL), ".cl");
    CHECK_STR(vyre_emit_target_name(VYRE_EMIT_CUDA), "cuda");
    CHECK_STR(vyre_emit_target_suffix(VYRE_EMIT_CUDA), ".cu");
    vyre_program_release(p);
}
