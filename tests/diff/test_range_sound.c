/* Soundness of ranges, judged by running: random programs full of guards, loops, early ends and
 * arithmetic that wraps. A machine runs them and holds every claim against every value; what it
 * leaves in memory must be what `ref` leaves there, so that the machine itself is right. The same
 * programs, lowered for a device that tests no access, run on a machine that forgives none. Numbers
 * on the command line of a run: PROGRAMS and SEED in the environment. */
#include "backend/ref/ref.h"
#include "base/text.h"
#include "diff/range_machine.h"
#include "vyre/check.h"
#include "vyre/lower.h"
#include "vyre/text.h"

enum { VARS = 4, SIGNED = 2, DEPTH = 4, DECLS = 16, MOST_WORDS = 64, MOST_NAMES = 16 };

typedef struct generator {
    uint64_t random;
    vyre_text text;
    uint32_t names;
    uint32_t loops;               /* open */
    char counters[MOST_NAMES][8]; /* of open counted loops */
    uint32_t counter_count;
} generator;

static uint32_t below(generator *g, uint32_t bound) {
    return (uint32_t)test_random_below(&g->random, bound);
}

static void put(generator *g, const char *text) {
    vyre_text_puts(&g->text, text);
}

static void value(generator *g, uint32_t depth);
static void signed_value(generator *g, uint32_t depth);

static void call(generator *g, const char *name, uint32_t depth) {
    put(g, name);
    put(g, "(");
    value(g, depth);
    put(g, ", ");
    value(g, depth);
    put(g, ")");
}

static void literal(generator *g) {
    static const uint32_t some[] = {0,  1,  2,   3,  4,          5,          7,          8,
                                    15, 16, 31,  32, 255,        256,        65536,      1u << 31,
                                    0,  1,  100, 6,  4294967295, 4294967294, 2147483647, 12};
    vyre_text_printf(&g->text, "%u", some[below(g, below(g, 3) ? 10 : 24)]);
}

static void leaf(generator *g) {
    static const char *const leaves[] = {"local_id.x",
                                         "local_id.y",
                                         "group_id.x",
                                         "global_id.x",
                                         "global_size.x",
                                         "num_groups.x",
                                         "len(a)",
                                         "len(b)",
                                         "len(c)",
                                         "len(d)",
                                         "len(e)",
                                         "k",
                                         "m",
                                         "len(a)",
                                         "k",
                                         "tile",
                                         "global_id.y",
                                         "group_size.x",
                                         "subgroup_size",
                                         "len(w)",
                                         "subgroup_local_id"};
    const uint32_t kind = below(g, 10);
    if (kind < 3) {
        vyre_text_printf(&g->text, "x%u", below(g, VARS));
    } else if (kind < 6 && g->counter_count > 0) {
        put(g, g->counters[below(g, g->counter_count)]);
    } else if (kind < 8) {
        put(g, leaves[below(g, 21)]);
    } else {
        literal(g);
    }
}

static void binary(generator *g, uint32_t depth) {
    static const char *const ops[] = {" + ", " - ", " * ",  " / ",  " % ", " & ",
                                      " | ", " ^ ", " << ", " >> ", " + ", " - "};
    put(g, "(");
    value(g, depth);
    put(g, ops[below(g, 12)]);
    if (below(g, 2)) {
        literal(g);
    } else {
        value(g, depth);
    }
    put(g, ")");
}

static void condition(generator *g, uint32_t depth);

static void load(generator *g, uint32_t depth) {
    static const char *const memory[] = {"a", "b", "c", "w", "q", "n"};
    put(g, memory[below(g, 6)]);
    put(g, "[");
    value(g, depth);
    put(g, "]");
}

static void value(generator *g, uint32_t depth) {
    static const char *const unary[] = {"clz", "popcount", "ctz", "reverse_bits", "sign", "abs"};
    static const char *const calls[] = {"min",     "max",     "min",      "max",      "sat_add",
                                        "sat_sub", "sat_mul", "abs_diff", "mul_high", "rotl"};
    if (depth == 0) {
        leaf(g);
        return;
    }
    switch (below(g, 14)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4: binary(g, depth - 1); return;
    case 5: call(g, calls[below(g, 10)], depth - 1); return;
    case 6:
        put(g, "select(");
        condition(g, 1);
        put(g, ", ");
        value(g, depth - 1);
        put(g, ", ");
        value(g, depth - 1);
        put(g, ")");
        return;
    case 7: load(g, depth - 1); return;
    case 8:
        vyre_text_printf(&g->text, "%s(", unary[below(g, 6)]);
        value(g, depth - 1);
        put(g, ")");
        return;
    case 9:
        put(g, below(g, 2) ? "u32(" : "bitcast<u32>(");
        signed_value(g, depth - 1);
        put(g, ")");
        return;
    case 10:
        if (below(g, 3)) {
            put(g, "~");
            value(g, 0);
            return;
        }
        put(g, below(g, 2) ? "u32(u8(" : "u32(i16(");
        value(g, depth - 1);
        put(g, "))");
        return;
    default: leaf(g); return;
    }
}

static void signed_value(generator *g, uint32_t depth) {
    static const char *const ops[] = {" + ", " - ", " * ", " / ", " % ", " & ", " >> ", " << "};
    static const char *const leaves[] = {"s", "-1i", "3i", "100i", "2147483647i", "i[local_id.x]"};
    const uint32_t kind = below(g, 8);
    if (kind < 2) {
        vyre_text_printf(&g->text, "y%u", below(g, SIGNED));
    } else if (kind < 4 || depth == 0) {
        put(g, leaves[below(g, 6)]);
    } else if (kind < 6) {
        put(g, "i32(");
        value(g, depth - 1);
        put(g, ")");
    } else if (kind == 6) {
        put(g, below(g, 2) ? "min(" : "max(");
        signed_value(g, depth - 1);
        put(g, ", ");
        signed_value(g, depth - 1);
        put(g, ")");
    } else {
        put(g, "(");
        signed_value(g, depth - 1);
        put(g, ops[below(g, 8)]);
        signed_value(g, depth - 1);
        put(g, ")");
    }
}

static void condition(generator *g, uint32_t depth) {
    static const char *const compare[] = {" < ", " <= ", " > ", " >= ", " == ", " != ", " < "};
    const uint32_t kind = below(g, 12);
    if (kind < 3 && depth > 0) {
        put(g, "(");
        condition(g, depth - 1);
        put(g, below(g, 3) ? " && " : " || ");
        condition(g, depth - 1);
        put(g, ")");
    } else if (kind == 3 && depth > 0) {
        put(g, "!(");
        condition(g, depth - 1);
        put(g, ")");
    } else if (kind == 4) {
        signed_value(g, 1);
        put(g, compare[below(g, 7)]);
        signed_value(g, 1);
    } else {
        value(g, below(g, 3));
        put(g, compare[below(g, 7)]);
        if (below(g, 3)) {
            value(g, below(g, 2));
        } else {
            static const char *const ends[] = {"len(a)", "len(b)", "len(c)", "len(d)", "len(e)",
                                               "k",      "8",      "16",     "4"};
            put(g, ends[below(g, 9)]);
            put(g, below(g, 4) ? "" : " - 1");
        }
    }
}

/* Indices that are mostly inside. */
static void index_value(generator *g) {
    static const char *const ends[] = {"len(a)", "len(b)", "len(c)", "16", "4", "k"};
    switch (below(g, 6)) {
    case 0:
        put(g, "min(");
        value(g, 1);
        vyre_text_printf(&g->text, ", %s - 1)", ends[below(g, 6)]);
        return;
    case 1:
        put(g, "(");
        value(g, 1);
        vyre_text_printf(&g->text, ") %% %s", ends[below(g, 6)]);
        return;
    case 2:
        leaf(g);
        put(g, below(g, 2) ? " + 1" : " - 1");
        return;
    default: value(g, below(g, 3)); return;
    }
}

static void simple(generator *g) {
    static const char *const memory[] = {"b", "c", "d", "e", "w", "q"};
    switch (below(g, 8)) {
    case 0:
    case 1:
        vyre_text_printf(&g->text, "%s[", memory[below(g, 6)]);
        index_value(g);
        put(g, "] = ");
        value(g, 1);
        put(g, ";\n");
        return;
    case 2:
        vyre_text_printf(&g->text, "x%u = atomic_add(%s[", below(g, VARS), below(g, 2) ? "c" : "w");
        index_value(g);
        put(g, "], 1);\n");
        return;
    case 3:
        vyre_text_printf(&g->text, "y%u = ", below(g, SIGNED));
        signed_value(g, 2);
        put(g, ";\n");
        return;
    case 4:
        vyre_text_printf(&g->text, "x%u = x%u %s %u;\n", below(g, VARS), below(g, VARS),
                         below(g, 2)   ? "+"
                         : below(g, 2) ? ">>"
                                       : "-",
                         below(g, 4));
        return;
    default:
        vyre_text_printf(&g->text, "x%u = ", below(g, VARS));
        value(g, below(g, 3));
        put(g, ";\n");
        return;
    }
}

static void list(generator *g, uint32_t depth);

static void branch(generator *g, uint32_t depth) {
    const uint32_t name = g->names++;
    if (below(g, 4) == 0) {
        vyre_text_printf(&g->text, "let t%u = ", name);
        condition(g, 2);
        vyre_text_printf(&g->text, ";\nif (t%u", name);
    } else {
        put(g, "if (");
        condition(g, 2);
    }
    put(g, ") {\n");
    list(g, depth - 1);
    const uint32_t end = below(g, 8);
    if (g->loops > 0 && end < 3) {
        put(g, end == 0 ? "break;\n" : "continue;\n");
    } else if (end == 3 && below(g, 2)) {
        put(g, "exit;\n");
    }
    if (below(g, 2)) {
        put(g, "} else {\n");
        list(g, depth - 1);
        if (g->loops > 0 && below(g, 8) == 0) {
            put(g, "break;\n");
        }
    }
    put(g, "}\n");
}

static void counted(generator *g, uint32_t depth) {
    static const char *const ends[] = {"len(a)", "len(b)",     "len(c)",     "len(d)",
                                       "len(e)", "k",          "8",          "16",
                                       "m",      "len(a) - 1", "len(e) + 1", "len(c) - 2"};
    const uint32_t name = g->names++;
    vyre_text_printf(&g->text, "for (c%u in ", name);
    if (below(g, 2)) {
        leaf(g);
    } else {
        put(g, below(g, 2) ? "0" : "global_id.x");
    }
    put(g, " .. ");
    if (below(g, 3)) {
        put(g, ends[below(g, 12)]);
    } else {
        value(g, 1);
    }
    if (below(g, 2)) {
        put(g, " step ");
        if (below(g, 2)) {
            put(g, below(g, 2) ? "global_size.x" : "3");
        } else {
            put(g, "max(1, ");
            value(g, 1);
            put(g, ")");
        }
    }
    put(g, ") {\n");
    const bool counts = g->counter_count < MOST_NAMES;
    if (counts) {
        (void)snprintf(g->counters[g->counter_count++], 8, "c%u", name % 100000);
    }
    g->loops++;
    list(g, depth - 1);
    g->loops--;
    g->counter_count -= counts;
    put(g, "}\n");
}

static void repeated(generator *g, uint32_t depth) {
    put(g, "while (");
    if (below(g, 4)) {
        vyre_text_printf(&g->text, "x%u %s ", below(g, VARS), below(g, 3) ? "<" : "!=");
        leaf(g);
        put(g, below(g, 2) ? " && " : " || ");
        condition(g, 0);
    } else {
        condition(g, 1);
    }
    put(g, ") {\n");
    g->loops++;
    if (below(g, 2)) {
        const uint32_t var = below(g, VARS);
        vyre_text_printf(&g->text, "x%u = x%u %s %u;\n", var, var, below(g, 3) ? "+" : ">>",
                         1 + below(g, 3));
    }
    list(g, depth - 1);
    if (below(g, 2)) {
        put(g, "if (x0 > 3) { break; }\nx0 = x0 + 1;\n");
    }
    g->loops--;
    put(g, "}\n");
}

/* Bounded by `depth`: the generator's own recursion. */
static void list(generator *g, uint32_t depth) {
    for (uint32_t count = 1 + below(g, 4); count > 0; count--) {
        const uint32_t kind = depth == 0 ? 9 : below(g, 10);
        if (kind < 3) {
            branch(g, depth);
        } else if (kind < 5) {
            counted(g, depth);
        } else if (kind < 6) {
            repeated(g, depth);
        } else {
            simple(g);
        }
    }
}

static void generate(generator *g) {
    static const char *const groups[] = {"4", "2, 2", "3", "1", "2, 1, 2"};
    vyre_text_reset(&g->text);
    g->names = g->loops = g->counter_count = 0;
    vyre_text_printf(&g->text,
                     "program p workgroup(%s) grid(2) {\nin a : u32[]; inout b : u32[len(a)]; "
                     "out c : u32[2 * len(a) + 1]; scratch d : u32[len(a) / 4 + 1]; out e : "
                     "u8[%s]; in n : u8[8]; "
                     "in i : i32[3]; workgroup w : u32[16]; private q : u32[4]; param k : u32 = 5; "
                     "param m : u32 = 1; param s : i32 = -3; const tile = 4;\n",
                     groups[below(g, 5)],
                     below(g, 3) == 0 ? "len(c) - 1"
                     : below(g, 2)    ? "max(len(a), 2) - 1"
                                      : "k * len(a)");
    for (uint32_t i = 0; i < VARS; i++) {
        vyre_text_printf(&g->text, "let x%u = ", i);
        literal(g);
        put(g, ";\n");
    }
    put(g, "let y0 = s;\nlet y1 = 0i;\n");
    list(g, 1 + below(g, DEPTH));
    put(g, "}\n");
}

/* Running */

typedef struct storage {
    uint32_t words[DECLS][MOST_WORDS * 4];
    uint32_t counts[DECLS];
    uint64_t params[DECLS];
} storage;

static uint32_t some_word(uint64_t *seed) {
    const uint64_t kind = test_random_below(seed, 4);
    return kind == 0   ? (uint32_t)test_random(seed)
           : kind == 1 ? UINT32_MAX - (uint32_t)test_random_below(seed, 3)
                       : (uint32_t)test_random_below(seed, 10);
}

static void fill(storage *m, const vyre_program_view *p, const char *text, uint64_t seed) {
    const uint32_t length = (uint32_t)test_random_below(&seed, 9);
    const uint32_t k =
        strstr(text, "k * len(a)") ? (uint32_t)test_random_below(&seed, 4) : some_word(&seed);
    memset(m, 0, sizeof *m);
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        const char *name = p->decls[d].name;
        const bool given = p->decls[d].role == VYRE_IN || p->decls[d].role == VYRE_INOUT;
        const uint32_t e = strstr(text, "u8[len(c)") ? 2 * length
                           : strstr(text, "u8[max(") ? (length > 2 ? length : 2) - 1
                                                     : k * length;
        m->counts[d] = name[0] == 'a' || name[0] == 'b' ? length
                       : name[0] == 'c'                 ? 2 * length + 1
                       : name[0] == 'd'                 ? length / 4 + 1
                       : name[0] == 'e'                 ? e
                       : name[0] == 'n'                 ? 8
                       : name[0] == 'i'                 ? 3
                       : name[0] == 'w'                 ? 16
                       : name[0] == 'q'                 ? 4
                                                        : 0;
        m->params[d] = name[0] == 'k' ? k : some_word(&seed);
        for (uint32_t i = 0; i < MOST_WORDS && given; i++) {
            m->words[d][i] = some_word(&seed);
        }
    }
}

static bool run_ref(const vyre_program *program, storage *m, const uint32_t grid[3]) {
    vyre_ref_memory memory[DECLS];
    vyre_ref_result result;
    vyre_diag diag = {0};
    for (uint32_t d = 0; d < DECLS; d++) {
        memory[d] = (vyre_ref_memory){.data = m->words[d], .count = m->counts[d]};
    }
    const vyre_ref_args args = {.program = program,
                                .memory = memory,
                                .values = m->params,
                                .grid = {grid[0], grid[1], grid[2]},
                                .step_budget = 1000000};
    const vyre_status status = vyre_ref_execute(&args, NULL, &result, &diag);
    CHECK(status == VYRE_OK || status == VYRE_STEP_BUDGET);
    return status == VYRE_OK;
}

/* Whether all claims hold and memory is as `ref` leaves it. */
static bool judge(const vyre_program *source, const vyre_program *program, const vyre_ranges *r,
                  const char *text, uint64_t seed, range_counts *totals, uint64_t *completed) {
    const vyre_program_view *p = vyre_program_get(program);
    storage mine, theirs;
    void *memory[DECLS];
    fill(&mine, p, text, seed);
    theirs = mine;
    for (uint32_t d = 0; d < DECLS; d++) {
        memory[d] = mine.words[d];
    }
    range_machine m = {.p = p,
                       .r = r,
                       .grid = {1 + (uint32_t)(seed % 3), 1, 1},
                       .memory = memory,
                       .counts = mine.counts,
                       .params = mine.params,
                       .budget = source == program ? 4000 : 12000,
                       .strict = source != program,
                       .totals = totals};
    const bool done = range_machine_run(&m);
    if (m.failed) {
        test_fail(__FILE__, __LINE__, "%s\n%s", m.message, text);
        return false;
    }
    if (!done || !run_ref(source, &theirs, m.grid)) {
        return true;
    }
    (*completed)++;
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        if (vyre_role_is_buffer((vyre_role)p->decls[d].role) &&
            memcmp(mine.words[d], theirs.words[d], sizeof mine.words[d]) != 0) {
            test_fail(__FILE__, __LINE__, "%s is not as ref has it\n%s", p->decls[d].name, text);
            return false;
        }
    }
    return true;
}

static uint64_t number(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static vyre_program *parse(generator *g) {
    vyre_program *program = NULL;
    vyre_diag items[1] = {0};
    vyre_diag_list diags = {.items = items, .capacity = 1};
    const char *text = vyre_text_string(&g->text);
    vyre_status status = vyre_parse(text, g->text.length, NULL, NULL, &program, &diags);
    if (status == VYRE_OK) {
        status = vyre_check(program, NULL, &diags);
    }
    if (status != VYRE_OK) {
        test_fail(__FILE__, __LINE__, "%s %s\n%s", items[0].code, items[0].message, text);
    }
    return program;
}

static void print_counts(const range_counts *n, uint64_t programs, uint64_t completed) {
    printf("%" PRIu64 " programs, %" PRIu64 " runs to their end; %" PRIu64 " values: %" PRIu64
           " with a bound, %" PRIu64 " with a symbolic end, %" PRIu64 " with a form; %" PRIu64
           " of %" PRIu64 " accesses inside; %" PRIu64 " operations that can't wrap, %" PRIu64
           " divisors, %" PRIu64 " amounts; %" PRIu64 " indices by loop, %" PRIu64 " clips\n",
           programs, completed, n->values, n->constants, n->symbolic, n->exact, n->inside,
           n->accesses, n->operations, n->divisors, n->amounts, n->indices, n->clips);
}

/* Checks the program on some inputs; lowered or not. */
static void judge_all(const vyre_program *source, const vyre_program *program, const char *text,
                      uint64_t seed, range_counts *n, uint64_t *completed) {
    vyre_ranges *r = NULL;
    REQUIRE_OK(vyre_ranges_create(program, NULL, &r), NULL);
    for (uint64_t i = 0; i < 4 && !test_failed(); i++) {
        (void)judge(source, program, r, text, seed * 4 + i, n, completed);
    }
    vyre_ranges_destroy(r);
}

static vyre_program *with_bounds(const vyre_program *program) {
    vyre_capabilities can;
    vyre_diag diag = {0};
    vyre_program *lowered = NULL;
    REQUIRE_OK(vyre_capabilities_named("bounds", &can, &diag), &diag);
    REQUIRE_OK(vyre_lower(program, &can, NULL, &lowered, &diag), &diag);
    return lowered;
}

TEST(claims_hold_when_programs_run) {
    const uint64_t programs = number("PROGRAMS", test_scaled(1500));
    generator g = {.random = number("SEED", 1)};
    range_counts n = {0}, lowered_counts = {0};
    uint64_t completed = 0, lowered_completed = 0;
    vyre_text_init(&g.text, NULL);
    for (uint64_t i = 0; i < programs && !test_failed(); i++) {
        generate(&g);
        vyre_program *program = parse(&g);
        if (program && !test_failed()) {
            const char *text = vyre_text_string(&g.text);
            vyre_program *lowered = with_bounds(program);
            judge_all(program, program, text, i, &n, &completed);
            judge_all(program, lowered, text, i, &lowered_counts, &lowered_completed);
            vyre_program_release(lowered);
        }
        vyre_program_release(program);
    }
    vyre_text_finish(&g.text);
    print_counts(&n, programs, completed);
    print_counts(&lowered_counts, programs, lowered_completed);
    CHECK(completed * 2 > programs && lowered_completed * 2 > programs);
    CHECK(n.constants * 10 > n.values && n.symbolic * 10 > n.values && n.exact * 10 > n.values);
    CHECK(n.inside * 20 > n.accesses);
    CHECK(n.operations > 10 * programs && n.divisors > programs && n.amounts > programs);
    CHECK(n.indices > programs && n.clips > programs);
}
