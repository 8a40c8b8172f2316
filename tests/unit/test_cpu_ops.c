/* Every operator, every conversion and every kind of element on "cpu", on edge values and random
 * ones, against "ref": one lane at a time and in lockstep, with all the features of the processor
 * and with the least. */
#include "base/text.h"
#include "harness/run.h"
#include "unit/ops.h"

enum { LANES = 1200, EDGES = 30 };

static const char *const devices[] = {"cpu://gang=1", "cpu://gang=8", "cpu://features=sse2&gang=1",
                                      "cpu://features=sse2&gang=4"};
enum { DEVICES = sizeof devices / sizeof *devices };

static const vyre_type computing[] = {VYRE_U32, VYRE_I32, VYRE_U64, VYRE_I64, VYRE_F32, VYRE_F64};

static void need_llvm(void) {
    vyre_device *device = NULL;
    if (vyre_device_open(NULL, "cpu", NULL, &device, NULL) != VYRE_OK) {
        test_skip("there is no LLVM 19");
    }
    vyre_device_close(device);
}

static bool is_nan(vyre_type type, const unsigned char *element) {
    float single;
    double real;
    if (type == VYRE_F32) {
        memcpy(&single, element, sizeof single);
        return single != single;
    }
    memcpy(&real, element, sizeof real);
    return type == VYRE_F64 && real != real;
}

static void compare(const char *device, const run_result *want, const run_result *got,
                    const vyre_type *types, const char *text) {
    for (uint32_t o = 0; o < want->output_count && !test_failed(); o++) {
        const uint32_t size = vyre_type_size(types[o]);
        const unsigned char *a = want->outputs[o].data, *b = got->outputs[o].data;
        for (size_t i = 0; i < want->outputs[o].size / size; i++, a += size, b += size) {
            if (memcmp(a, b, size) != 0 && !(is_nan(types[o], a) && is_nan(types[o], b))) {
                uint64_t x = 0, y = 0;
                memcpy(&x, a, size);
                memcpy(&y, b, size);
                test_fail(__FILE__, __LINE__,
                          "%s: output %u, line %zu, lane %zu: 0x%llx, not 0x%llx, in\n%s", device,
                          o, i / LANES, i % LANES, (unsigned long long)y, (unsigned long long)x,
                          text);
                return;
            }
        }
    }
}

/* Elements of an input: all pairs of edges, then random ones; x runs fast, y slowly. */
static void fill(vyre_type type, int operand, void *out) {
    uint64_t values[LANES];
    unsigned char *bytes = out;
    ops_values(type, 77 + (uint64_t)operand, values, LANES);
    for (uint32_t i = 0; i < LANES; i++) {
        const uint32_t rest = LANES - EDGES * EDGES; /* all edges there are, and random ones */
        const uint32_t at = i >= EDGES * EDGES ? (i + 7 * (uint32_t)operand) % rest
                            : operand == 0     ? i % EDGES
                            : operand == 1     ? i / EDGES
                                               : (i * 7 + i / EDGES) % EDGES;
        memcpy(bytes + (size_t)i * vyre_type_size(type), &values[at], vyre_type_size(type));
    }
}

static void check(const char *text, vyre_type input, const vyre_type *outputs) {
    static uint64_t storage[3][LANES];
    vyre_input inputs[3];
    vyre_program *program = run_parse(text);
    for (int i = 0; i < 3; i++) {
        fill(input, i, storage[i]);
        inputs[i] = (vyre_input){storage[i], (size_t)LANES * vyre_type_size(input)};
    }
    run_result want = run_program("ref", program, inputs, 3, NULL);
    REQUIRE_OK(want.status, &want.diag);
    for (uint32_t d = 0; d < DEVICES && !test_failed(); d++) {
        run_result got = run_program(devices[d], program, inputs, 3, NULL);
        CHECK_STATUS(got.status, VYRE_OK, &got.diag);
        if (got.status == VYRE_OK) {
            compare(devices[d], &want, &got, outputs, text);
        }
        run_finish(&got);
    }
    run_finish(&want);
    vyre_program_release(program);
}

/* Which line of an output takes the result of which operator. */
static void append_operator(vyre_text *t, vyre_expr_op op, vyre_type type, uint32_t line,
                            const char *to) {
    const vyre_expr_info *info = vyre_expr_info_of(op);
    vyre_text_printf(t, "    %s[global_id.x + %u] = %s(", to, line * LANES,
                     strcmp(to, "b") == 0 ? "u32" : vyre_type_name(type));
    if (info->form == VYRE_FORM_INFIX) {
        vyre_text_printf(t, "x %s y", info->spelling);
    } else if (info->form == VYRE_FORM_PREFIX) {
        vyre_text_printf(t, "%sx", info->spelling);
    } else {
        vyre_text_printf(t, "%s(x%s%s)", info->spelling, info->arity > 1 ? ", y" : "",
                         info->arity > 2 ? ", z" : "");
    }
    vyre_text_puts(t, ");\n");
}

static void check_operators(vyre_type type, bool wants_bool) {
    const char *name = vyre_type_name(type);
    uint32_t lines = 0;
    vyre_text t, body;
    vyre_text_init(&t, NULL);
    vyre_text_init(&body, NULL);
    for (vyre_expr_op op = VYRE_EXPR_NEG; op < VYRE_EXPR_COUNT; op++) {
        const vyre_expr_info *info = vyre_expr_info_of(op);
        const bool fits = vyre_operands_accept((vyre_operands)info->operands, 0, type) &&
                          info->operands != VYRE_OPERANDS_SELECT &&
                          info->operands != VYRE_OPERANDS_LOGIC &&
                          info->operands != VYRE_OPERANDS_ELEMENTARY;
        if (fits && (info->result == VYRE_RESULT_BOOL) == wants_bool) {
            append_operator(&body, op, type, lines++, wants_bool ? "b" : "r");
        }
    }
    vyre_text_printf(&t, "program p workgroup(40) grid(%u) {\n", LANES / 40);
    for (int i = 0; i < 3; i++) {
        vyre_text_printf(&t, "    in in%d : %s[%u];\n", i, name, LANES);
    }
    vyre_text_printf(&t, "    out %s : %s[%u];\n", wants_bool ? "b" : "r",
                     wants_bool ? "u32" : name, LANES * lines);
    vyre_text_puts(&t, "    let x = in0[global_id.x];\n    let y = in1[global_id.x];\n"
                       "    let z = in2[global_id.x];\n");
    vyre_text_puts(&t, vyre_text_string(&body));
    vyre_text_puts(&t, "}\n");
    CHECK(lines > 4);
    check(vyre_text_string(&t), type, wants_bool ? &computing[0] : &type);
    vyre_text_finish(&t);
    vyre_text_finish(&body);
}

TEST(every_operator_gives_the_bits_of_the_reference) {
    need_llvm();
    for (size_t i = 0; i < sizeof computing / sizeof *computing && !test_failed(); i++) {
        check_operators(computing[i], false);
        check_operators(computing[i], true);
    }
}

static void check_casts(vyre_type from) {
    static const vyre_type outputs[] = {VYRE_U64, VYRE_F32, VYRE_F64};
    vyre_text t;
    vyre_text_init(&t, NULL);
    vyre_text_printf(&t, "program p workgroup(40) grid(%u) {\n", LANES / 40);
    for (int i = 0; i < 3; i++) {
        vyre_text_printf(&t, "    in in%d : %s[%u];\n", i, vyre_type_name(from), LANES);
    }
    vyre_text_printf(&t, "    out i : u64[%u];\n    out f : f32[%u];\n    out d : f64[%u];\n",
                     LANES * 10, LANES * 3, LANES);
    vyre_text_puts(&t, "    let x = in0[global_id.x];\n    let y = in1[global_id.x];\n");
    uint32_t lines[3] = {0};
    for (vyre_type to = VYRE_BOOL; to < VYRE_TYPE_COUNT; to++) {
        const int out = to == VYRE_F64 ? 2 : vyre_type_is_float(to) ? 1 : 0;
        vyre_text_printf(&t, "    %c[global_id.x + %u] = %s(%s(%c));\n", "ifd"[out],
                         lines[out]++ * LANES, out == 0 ? "u64" : "", vyre_type_name(to),
                         to % 2 ? 'x' : 'y');
    }
    vyre_text_puts(&t, "}\n");
    check(vyre_text_string(&t), from, outputs);
    vyre_text_finish(&t);
}

TEST(every_conversion_gives_the_bits_of_the_reference) {
    need_llvm();
    for (size_t i = 0; i < sizeof computing / sizeof *computing && !test_failed(); i++) {
        check_casts(computing[i]);
    }
}

TEST(every_kind_of_element_is_stored_and_loaded_as_by_the_reference) {
    static const vyre_type outputs[] = {VYRE_U8,  VYRE_I8,  VYRE_U16, VYRE_I16,
                                        VYRE_U32, VYRE_F32, VYRE_U32, VYRE_F32};
    need_llvm();
    /* The 16-bit floats are compared as f32, so that NaNs are told. */
    check("program p workgroup(40) grid(30) {\n"
          "    in in0 : f32[1200];\n    in in1 : f32[1200];\n    in in2 : f32[1200];\n"
          "    out a : u8[1200];\n    out b : i8[1200];\n    out c : u16[1200];\n"
          "    out d : i16[1200];\n    out e : bool[1200];\n    scratch h : f16[1200];\n"
          "    scratch g : bf16[1200];\n    out f : f32[2400];\n    out s : u32[6000];\n"
          "    out k : f32[2400];\n    let i = global_id.x;\n    let w = bitcast<u32>(in0[i]);\n"
          "    a[i] = w;\n    b[i] = i32(w);\n    c[i] = w;\n    d[i] = i32(w);\n"
          "    e[i] = w > 5;\n    h[i] = in0[i];\n    g[i] = in1[i];\n"
          "    f[i] = h[i];\n    f[i + 1200] = g[i];\n"
          "    s[i] = a[i];\n    s[i + 1200] = u32(b[i]);\n    s[i + 2400] = c[i];\n"
          "    s[i + 3600] = u32(d[i]);\n    s[i + 4800] = u32(e[i]);\n"
          "    k[(i * 7) % 1200] = h[i];\n    k[i * 2 + 1200] = in2[1199 - i];\n}\n",
          VYRE_F32, outputs);
}
