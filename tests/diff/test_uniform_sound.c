/* Soundness of uniformity, judged by running: random programs full of barriers, loads of memory
 * that is written nearby, loops, breaks, early ends and calls. What the validator accepts must
 * never let lanes meet different barriers, in any order of lanes. Every program ends with a grid
 * barrier, so that a lane which missed one is found waiting there. Numbers on the command line of a
 * run: PROGRAMS and SEED in the environment. */
#include "harness/test.h"

#include "backend/ref/ref.h"
#include "base/text.h"
#include "vyre/check.h"
#include "vyre/text.h"

enum { VARS = 2, DEPTH = 4, COUNT = 8, DECLS = 8 };

typedef struct generator {
    uint64_t random;
    vyre_text text;
    uint32_t loops; /* open */
    uint32_t names;
    uint32_t rarity; /* one simple statement in so many is a barrier */
    bool function;   /* inside of one */
} generator;

static uint32_t below(generator *g, uint32_t bound) {
    return (uint32_t)test_random_below(&g->random, bound);
}

static void value(generator *g, uint32_t depth) {
    static const char *const leaves[] = {
        "k",      "group_id.x",   "global_id.x", "local_id.y",    "local_id.x",
        "len(n)", "num_groups.x", "n[1]",        "n[group_id.x]", "f[0]",
        "f[1]",   "h[0]",         "w[0]",        "w[1]",          "h[group_id.x]",
        "a[1]"};
    const uint32_t kind = below(g, 12);
    if (kind < 4) {
        vyre_text_printf(&g->text, "%u", below(g, 4));
    } else if (kind < 7) {
        vyre_text_printf(&g->text, "x%u", below(g, VARS));
    } else if (kind < 10 || depth == 0) {
        vyre_text_puts(&g->text, leaves[below(g, 16)]);
    } else {
        vyre_text_puts(&g->text, "(");
        value(g, depth - 1);
        vyre_text_puts(&g->text, below(g, 2) ? " + " : " & ");
        value(g, depth - 1);
        vyre_text_puts(&g->text, ")");
    }
}

static void condition(generator *g) {
    if (below(g, 2)) {
        vyre_text_printf(&g->text, "x%u", below(g, VARS));
    } else {
        value(g, 1);
    }
    vyre_text_printf(&g->text, " %s %u", below(g, 2) ? "==" : "<", below(g, 4));
}

static void simple(generator *g) {
    static const char *const memory[] = {
        "f[0]", "f[1]", "h[0]", "w[0]", "w[1]", "a[1]", "f[global_id.x & 7]", "w[local_id.x]"};
    if (below(g, g->rarity) == 0) {
        const char *barrier = below(g, 2) ? "barrier;" : "grid_sync;";
        if (below(g, 2)) {
            vyre_text_printf(&g->text, "if (x%u == %u) { %s }\n", below(g, VARS), below(g, 3),
                             barrier);
        } else {
            vyre_text_printf(&g->text, "%s\n", barrier);
        }
        return;
    }
    if (below(g, 4) == 0) { /* lanes part for a moment */
        static const char *const ids[] = {"local_id.x", "global_id.x", "group_id.x", "local_id.y"};
        static const char *const jumps[] = {"", "", " break;", " continue;"};
        vyre_text_printf(&g->text, "if (%s == %u) { x%u = %u;%s }\n", ids[below(g, 4)], below(g, 2),
                         below(g, VARS), below(g, 3), jumps[g->loops > 0 ? below(g, 4) : 0]);
        return;
    }
    switch (below(g, 8)) {
    case 0:
        vyre_text_printf(&g->text, "x%u = atomic_add(%s, 1);\n", below(g, VARS),
                         below(g, 2) ? "f[1]" : "w[0]");
        break;
    case 1:
    case 2:
        vyre_text_printf(&g->text, "%s = ", memory[below(g, 8)]);
        value(g, 1);
        vyre_text_puts(&g->text, ";\n");
        break;
    case 3:
        if (!g->function) {
            vyre_text_printf(&g->text, "x%u = help(", below(g, VARS));
            value(g, 1);
            vyre_text_puts(&g->text, ");\n");
            break;
        }
        /* fall through */
    default:
        vyre_text_printf(&g->text, "x%u = ", below(g, VARS));
        value(g, below(g, 3));
        vyre_text_puts(&g->text, ";\n");
        break;
    }
}

/* Bounded by `depth`: the generator's own recursion. */
static void list(generator *g, uint32_t depth) {
    for (uint32_t count = 1 + below(g, 4); count > 0; count--) {
        const uint32_t kind = depth == 0 ? 9 : below(g, 10), name = g->names++;
        if (kind < 3) {
            vyre_text_puts(&g->text, "if (");
            condition(g);
            vyre_text_puts(&g->text, ") {\n");
            list(g, depth - 1);
            if (g->loops > 0 && below(g, 4) == 0) {
                vyre_text_puts(&g->text, below(g, 2) ? "break;\n" : "continue;\n");
            } else if (below(g, 16) == 0) {
                vyre_text_puts(&g->text, "exit;\n");
            }
            if (below(g, 2)) {
                vyre_text_puts(&g->text, "} else {\n");
                list(g, depth - 1);
            }
            vyre_text_puts(&g->text, "}\n");
        } else if (kind < 5) {
            g->loops++;
            if (kind == 3) {
                vyre_text_printf(&g->text, "for (i%u_ in 0 .. ", name);
                value(g, 1);
                vyre_text_puts(&g->text, " & 3) {\n");
            } else {
                vyre_text_printf(&g->text, "let t%u = 0;\nwhile (t%u < 3 && ", name, name);
                condition(g);
                vyre_text_printf(&g->text, ") {\nt%u = t%u + 1;\n", name, name);
            }
            list(g, depth - 1);
            vyre_text_puts(&g->text, "}\n");
            g->loops--;
        } else {
            simple(g);
        }
    }
}

static void variables(generator *g) {
    for (uint32_t i = 0; i < VARS; i++) {
        vyre_text_printf(&g->text, "let x%u = %u;\n", i, below(g, 3));
    }
}

static void generate(generator *g) {
    vyre_text_reset(&g->text);
    g->names = 0;
    g->rarity = 2 + below(g, 8);
    vyre_text_puts(&g->text,
                   "program p workgroup(2, 2) grid(2) {\nin n : u32[8]; inout f : u32[8]; "
                   "inout h : u32[8]; workgroup w : u32[8]; private a : u32[2]; param k : "
                   "u32 = 1;\nfn help(arg : u32) -> u32 {\n");
    g->function = true;
    variables(g);
    vyre_text_puts(&g->text, "x0 = arg;\n");
    list(g, 1);
    vyre_text_puts(&g->text, "return x0 + x1;\n}\n");
    g->function = false;
    variables(g);
    list(g, 1 + below(g, DEPTH));
    vyre_text_puts(&g->text, "grid_sync;\n}\n");
}

/* Whether lanes stayed together; on failure prints the program. */
static bool together(const vyre_program *program, const char *text, vyre_ref_order order,
                     uint64_t seed) {
    uint32_t words[DECLS][COUNT];
    vyre_ref_memory memory[DECLS];
    uint64_t values[DECLS];
    vyre_ref_result result;
    vyre_diag diag = {0};
    for (uint32_t d = 0; d < DECLS; d++) {
        memory[d] = (vyre_ref_memory){.data = words[d], .count = COUNT};
        values[d] = 1;
        for (uint32_t i = 0; i < COUNT; i++) {
            words[d][i] = (uint32_t)test_random_below(&seed, 4);
        }
    }
    const vyre_ref_args args = {.program = program,
                                .memory = memory,
                                .values = values,
                                .grid = {2, 1, 1},
                                .order = order,
                                .seed = seed,
                                .step_budget = 20000};
    const vyre_status status = vyre_ref_execute(&args, NULL, &result, &diag);
    if (status == VYRE_OK || status == VYRE_STEP_BUDGET) {
        return true;
    }
    test_fail(__FILE__, __LINE__, "accepted, but %s\n%s", diag.message, text);
    return false;
}

/* Refusals that are not about uniformity would be the generator's fault. */
static bool accepted(const vyre_program *program, const char *text) {
    vyre_diag items[1] = {0};
    vyre_diag_list diags = {.items = items, .capacity = 1};
    const vyre_status status = vyre_check(program, NULL, &diags);
    if (status != VYRE_OK && strcmp(items[0].code, "V010") != 0) {
        test_fail(__FILE__, __LINE__, "%s %s\n%s", items[0].code, items[0].message, text);
    }
    return status == VYRE_OK;
}

static uint64_t number(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

TEST(accepted_programs_keep_lanes_together) {
    const uint64_t programs = number("PROGRAMS", 4000);
    generator g = {.random = number("SEED", 1)};
    uint64_t good = 0, nested = 0;
    vyre_text_init(&g.text, NULL);
    for (uint64_t i = 0; i < programs && !test_failed(); i++) {
        vyre_program *program = NULL;
        vyre_diag items[1] = {0};
        vyre_diag_list diags = {.items = items, .capacity = 1};
        generate(&g);
        const char *text = vyre_text_string(&g.text);
        const vyre_status status = vyre_parse(text, g.text.length, NULL, NULL, &program, &diags);
        if (status != VYRE_OK) {
            test_fail(__FILE__, __LINE__, "%s\n%s", items[0].message, text);
            break;
        }
        if (accepted(program, text)) {
            good++;
            nested += strstr(text, "{ barrier") || strstr(text, "{ grid_sync");
            for (int order = VYRE_REF_FORWARD; order <= VYRE_REF_INTERLEAVED; order++) {
                if (!together(program, text, (vyre_ref_order)order, i)) {
                    break;
                }
            }
        }
        vyre_program_release(program);
    }
    vyre_text_finish(&g.text);
    printf("%" PRIu64 " programs, %" PRIu64 " accepted, %" PRIu64
           " of them with barriers in arms\n",
           programs, good, nested);
    CHECK(good * 10 > programs);
    CHECK(nested * 50 > programs);
}
