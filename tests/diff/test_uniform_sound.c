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
    uint32_t rarity;              /* one simple statement in so many is a barrier */
    bool function;                /* inside of one */
    char counters[DEPTH + 2][12]; /* variables of the loops around that count */
    uint32_t counted;
    bool indexed; /* elements are mostly those of one another's indices */
} generator;

static uint32_t below(generator *g, uint32_t bound) {
    return (uint32_t)test_random_below(&g->random, bound);
}

/* An index of the kind that is told apart from others of its kind, or nearly. */
static void index_of(generator *g) {
    static const char *const forms[] = {"%s",
                                        "%s & 1",
                                        "%s ^ 1",
                                        "(%s + 1) & 1",
                                        "1 - %s",
                                        "%s %% 3",
                                        "(%s + 1) %% 3",
                                        "(%s + 2) %% 3",
                                        "%s + 1",
                                        "2 - %s",
                                        "(%s & 1) * 2",
                                        "(%s ^ 1) * 2 + 1",
                                        "2 * %s + 1",
                                        "(%s & 1) * 3 + (local_id.x & 1)",
                                        "(%s ^ 1) & 1",
                                        "min(%s, 1)",
                                        "2 + (%s & 1)",
                                        "(%s * 3) & 3"};
    char variable[12];
    (void)snprintf(variable, sizeof variable, "x%u", below(g, VARS));
    if (g->counted > 0 && below(g, 3) != 0) {
        memcpy(variable, g->counters[below(g, g->counted)], sizeof variable);
    }
    char text[64];
    const char *form = forms[below(g, sizeof forms / sizeof *forms)];
    size_t length = 0;
    for (const char *c = form; *c; c++) { /* the text is no format of the compiler's */
        if (c[0] == '%' && c[1] == 's') {
            length += (size_t)snprintf(text + length, sizeof text - length, "%s", variable);
            c++;
        } else {
            text[length++] = *c;
            c += c[0] == '%' && c[1] == '%';
        }
    }
    text[length] = '\0';
    vyre_text_puts(&g->text, text);
}

static void element(generator *g) {
    static const char *const names[] = {"f", "f", "f", "h", "w", "w"};
    vyre_text_printf(&g->text, "%s[", names[below(g, 6)]);
    index_of(g);
    vyre_text_puts(&g->text, "]");
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
        if (below(g, g->indexed ? 2 : 8) == 0) {
            element(g);
            return;
        }
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
        if (below(g, g->indexed ? 2 : 8) == 0) {
            element(g);
            vyre_text_puts(&g->text, " = ");
        } else {
            vyre_text_printf(&g->text, "%s = ", memory[below(g, 8)]);
        }
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

/* Of loops that surely run, that lanes begin apart, that end early. */
static void loop_head(generator *g, bool counts, uint32_t name) {
    static const char *const bounds[] = {
        "0 .. 2",
        "0 .. 3",
        "1 .. global_size.x",
        "2 .. global_size.x",
        "3 .. global_size.x",
        "local_id.x .. 4 step 2",
        "local_id.x .. 3 step 2",
        "local_id.x .. 2",
        "local_id.y .. 4 step 4",
        "global_id.x .. k * 5 / global_size.x * global_size.x step global_size.x",
        "global_id.x .. n[1] * 3 step global_size.x",
        "local_id.x .. n[0] / 2 * 2 step 2",
        "0 .. k"};
    char *counter = g->counters[g->counted++];
    (void)snprintf(counter, sizeof g->counters[0], "%c%u_", counts ? 'i' : 't', name);
    if (counts && below(g, 2)) {
        vyre_text_printf(&g->text, "for (i%u_ in %s) {\n", name,
                         bounds[below(g, sizeof bounds / sizeof *bounds)]);
    } else if (counts) {
        vyre_text_printf(&g->text, "for (i%u_ in 0 .. ", name);
        g->counted--;
        value(g, 1);
        g->counted++;
        vyre_text_puts(&g->text, " & 3) {\n");
    } else {
        vyre_text_printf(&g->text, "let t%u_ = %u;\nwhile (t%u_ < 3", name, below(g, 2), name);
        if (below(g, 3) != 0) {
            vyre_text_puts(&g->text, " && ");
            condition(g);
        }
        vyre_text_printf(&g->text, ") {\nt%u_ = t%u_ + %u;\n", name, name, 1 + below(g, 5) / 4);
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
            loop_head(g, kind == 3, name);
            list(g, depth - 1);
            vyre_text_puts(&g->text, "}\n");
            g->counted--;
            g->loops--;
        } else {
            simple(g);
        }
    }
}

static void variables(generator *g) {
    for (uint32_t i = 0; i < VARS; i++) {
        vyre_text_printf(&g->text, "let x%u = %u;\n", i,
                         below(g, 6) == 0 ? UINT32_MAX - below(g, 2) : below(g, 3));
    }
}

static void generate(generator *g) {
    vyre_text_reset(&g->text);
    g->names = g->counted = 0;
    g->indexed = below(g, 2) == 0;
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

/* Programs about nothing but the elements of one memory: loads that decide about barriers, writes
 * next to them, and what the indices become. */
static void generate_elements(generator *g) {
    static const char *const updates[] = {"x0 ^ 1",       "1 - x0",       "x0 + 1",
                                          "(x0 + 1) % 3", "(x0 + 1) & 1", "x0 + 3",
                                          "x0 + x1",      "n[t0_ & 3]",   "n[group_id.x]"};
    static const char *const loops[] = {"for (t0_ in 0 .. 3) {\n", "for (t0_ in 0 .. n[1] + 1) {\n",
                                        "for (t0_ in 0 .. 6 step 2) {\n",
                                        "while (t0_ < 4) {\nt0_ = t0_ + 1;\n",
                                        "while (t0_ - 5 > 4294967292) {\nt0_ = t0_ + 1;\n"};
    static const char *const starts[] = {"0",          "1",    "4294967295", "4294967294",
                                         "4294967293", "n[0]", "group_id.x", "n[group_id.x]"};
    const uint32_t loop = below(g, 5), memory = below(g, 3);
    vyre_text_reset(&g->text);
    vyre_text_printf(
        &g->text,
        "program p workgroup(2, 2) grid(2) {\nin n : u32[8]; inout f : u32[8]; inout h "
        ": u32[8]; workgroup w : u32[8]; private a : u32[2]; param k : u32 = 1;\n"
        "let x0 = %s;\nlet x1 = n[2];\n%s%s",
        starts[below(g, 8)],
        loop == 3   ? "let t0_ = 0;\n"
        : loop == 4 ? "let t0_ = 2;\n"
                    : "",
        loops[loop]);
    g->counted = 1;
    (void)snprintf(g->counters[0], sizeof g->counters[0], "t0_");
    /* Groups may come to a barrier of their own alone, in intervals that the grid shares. */
    const char *name = memory < 2 ? "f" : "w", *barrier = memory < 2 ? "grid_sync" : "barrier",
               *inner = memory == 0 ? "grid_sync" : "barrier";
    for (uint32_t count = 3 + below(g, 5); count > 0; count--) {
        switch (below(g, 8)) {
        case 0:
        case 1:
        case 2:
            vyre_text_printf(&g->text, "if (%s) { %s[", below(g, 2) ? "global_id.x == 1" : "true",
                             name);
            index_of(g);
            vyre_text_puts(&g->text, "] = n[global_id.x + 2 * local_id.y]; }\n");
            break;
        case 3:
        case 4: vyre_text_printf(&g->text, "%s;\n", barrier); break;
        case 5:
        case 6:
            vyre_text_printf(&g->text, "if (%s[", name);
            index_of(g);
            vyre_text_printf(&g->text, "] > %u) { %s; %s}\n", below(g, 3), inner,
                             below(g, 3) == 0 ? "break; " : "");
            break;
        default: vyre_text_printf(&g->text, "x0 = %s;\n", updates[below(g, 9)]); break;
        }
    }
    vyre_text_puts(&g->text, "}\ngrid_sync;\n}\n");
}

/* Values and conditions that whole subgroups share, or nearly. */
static void subgroup_value(generator *g) {
    static const char *const values[] = {"local_id.x / 32",
                                         "local_id.x >> 5",
                                         "global_id.x / 32",
                                         "(local_id.x + 32) / 64",
                                         "(local_id.x + 16) / 32",
                                         "local_id.x / subgroup_size",
                                         "local_id.x & 96",
                                         "local_id.x & 97",
                                         "u32(i32(local_id.x - 40) / 32i)",
                                         "u32(i32(local_id.x - 64) >> 5)",
                                         "local_id.x",
                                         "local_id.y",
                                         "group_id.x",
                                         "x0",
                                         "x1 / 32",
                                         "x0 + x1",
                                         "n[x0 & 7]",
                                         "w[x1 & 7]",
                                         "subgroup_add(x0)",
                                         "subgroup_or(local_id.x & x1)",
                                         "u32(subgroup_any(x1 == 1))",
                                         "u32(subgroup_all(local_id.x < 40))",
                                         "subgroup_ballot(x0 == 0)",
                                         "subgroup_shuffle(local_id.x, x0)",
                                         "subgroup_shuffle(x0, 1)",
                                         "subgroup_shuffle_xor(x0, 1)",
                                         "subgroup_scan_add(1)",
                                         "atomic_add(w[x0 & 7], 1)"};
    vyre_text_puts(&g->text, values[below(g, sizeof values / sizeof *values)]);
}

static void subgroup_condition(generator *g) {
    static const char *const conditions[] = {"local_id.x < 32",
                                             "local_id.x < 33",
                                             "local_id.x <= 31",
                                             "local_id.x >= 32",
                                             "local_id.x > 31",
                                             "local_id.x > 32",
                                             "32 > local_id.x",
                                             "31 < local_id.x",
                                             "32 <= local_id.x",
                                             "31 >= local_id.x",
                                             "global_id.x < 64",
                                             "global_id.x >= 96",
                                             "i32(local_id.x) - 64i < -32i",
                                             "local_id.x - 32 < 32",
                                             "local_id.y == 0",
                                             "group_id.x == 1",
                                             "x0 == 0",
                                             "x1 < 32",
                                             "x0 == x1"};
    vyre_text_puts(&g->text, conditions[below(g, sizeof conditions / sizeof *conditions)]);
}

/* Bounded by `depth`. */
static void subgroup_list(generator *g, uint32_t depth) {
    static const char *const heads[] = {"local_id.x / 32 .. 3 step 2", "x0 & 3 .. 4 step 2",
                                        "0 .. local_id.x >> 5", "0 .. x1 & 3"};
    for (uint32_t count = 1 + below(g, 3); count > 0; count--) {
        const uint32_t kind = depth == 0 ? 9 : below(g, 10), name = g->names++;
        if (kind < 4) {
            vyre_text_puts(&g->text, "if (");
            subgroup_condition(g);
            vyre_text_puts(&g->text, ") {\n");
            subgroup_list(g, depth - 1);
            if (g->loops > 0 && below(g, 4) == 0) {
                vyre_text_puts(&g->text, below(g, 2) ? "break;\n" : "continue;\n");
            } else if (below(g, 8) == 0) {
                vyre_text_puts(&g->text, "exit;\n");
            }
            if (below(g, 3) == 0) {
                vyre_text_puts(&g->text, "} else {\n");
                subgroup_list(g, depth - 1);
            }
            vyre_text_puts(&g->text, "}\n");
        } else if (kind < 6) {
            vyre_text_printf(&g->text, "for (i%u_ in %s) {\n", name, heads[below(g, 4)]);
            g->loops++;
            subgroup_list(g, depth - 1);
            g->loops--;
            vyre_text_puts(&g->text, "}\n");
        } else if (below(g, 12) == 0) {
            vyre_text_puts(&g->text, "barrier;\n");
        } else {
            vyre_text_printf(&g->text, "x%u = ", below(g, VARS));
            subgroup_value(g);
            vyre_text_puts(&g->text, ";\n");
        }
    }
}

static void generate_subgroups(generator *g) {
    static const char *const sizes[] = {"64", "40", "96", "32, 2", "64, 2", "8, 8", "32", "4, 3"};
    vyre_text_reset(&g->text);
    g->names = g->loops = 0;
    vyre_text_printf(&g->text,
                     "program p workgroup(%s) grid(2) {\nin n : u32[8]; inout f : u32[8]; inout h "
                     ": u32[8]; workgroup w : u32[8]; private a : u32[2]; param k : u32 = 1;\n"
                     "let x0 = 0;\nlet x1 = 1;\n",
                     sizes[below(g, 8)]);
    subgroup_list(g, 1 + below(g, 3));
    vyre_text_puts(&g->text, "x0 = subgroup_add(x0);\nif (x1 == 1) { x0 = subgroup_max(x0); }\n"
                             "grid_sync;\n}\n");
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
    if (status != VYRE_OK && strcmp(items[0].code, "V010") != 0 &&
        strcmp(items[0].code, "V269") != 0) {
        test_fail(__FILE__, __LINE__, "%s %s\n%s", items[0].code, items[0].message, text);
    }
    return status == VYRE_OK;
}

static uint64_t number(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* How many of the programs were accepted, and of those how many hold barriers in arms. */
typedef struct outcome {
    uint64_t good, nested;
} outcome;

static outcome judge(generator *g, void (*make)(generator *), uint64_t programs) {
    outcome o = {0, 0};
    vyre_text_init(&g->text, NULL);
    for (uint64_t i = 0; i < programs && !test_failed(); i++) {
        vyre_program *program = NULL;
        vyre_diag items[1] = {0};
        vyre_diag_list diags = {.items = items, .capacity = 1};
        make(g);
        const char *text = vyre_text_string(&g->text);
        const vyre_status status = vyre_parse(text, g->text.length, NULL, NULL, &program, &diags);
        if (status != VYRE_OK) {
            test_fail(__FILE__, __LINE__, "%s\n%s", items[0].message, text);
            break;
        }
        if (accepted(program, text)) {
            o.good++;
            o.nested += strstr(text, "{ barrier") || strstr(text, "{ grid_sync") ||
                        strstr(text, "{\nx0 = subgroup") || strstr(text, "{\nx1 = subgroup");
            for (int order = VYRE_REF_FORWARD; order <= VYRE_REF_INTERLEAVED; order++) {
                if (!together(program, text, (vyre_ref_order)order, i)) {
                    break;
                }
            }
        }
        vyre_program_release(program);
    }
    vyre_text_finish(&g->text);
    printf("%" PRIu64 " programs, %" PRIu64 " accepted, %" PRIu64
           " of them with barriers in arms\n",
           programs, o.good, o.nested);
    return o;
}

TEST(accepted_programs_keep_lanes_together) {
    const uint64_t programs = number("PROGRAMS", 4000);
    generator g = {.random = number("SEED", 1)};
    const outcome o = judge(&g, generate, programs);
    CHECK(o.good * 10 > programs);
    CHECK(o.nested * 50 > programs);
}

TEST(elements_that_are_told_apart_are_apart) {
    const uint64_t programs = number("PROGRAMS", 8000);
    generator g = {.random = number("SEED", 1)};
    const outcome o = judge(&g, generate_elements, programs);
    CHECK(o.nested * 8 > programs);
}

TEST(subgroups_come_together) {
    const uint64_t programs = number("PROGRAMS", 4000);
    generator g = {.random = number("SEED", 1)};
    const outcome o = judge(&g, generate_subgroups, programs);
    CHECK(o.good * 10 > programs);
    CHECK(o.nested * 50 > programs);
}
