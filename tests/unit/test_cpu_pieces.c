/* Random segments without barriers whose rows are cut into pieces (src/backend/cpu/piece.c): guards
 * in a row and nested, with effects before, between and behind them, in variables and not;
 * quotients, rests, wrapped and clamped indices; data that decides. Each store has an output of its
 * own and an index that no two lanes share, so there are no races; against "ref". */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "harness/run.h"

enum { OUTPUTS = 6, ELEMENTS = 1200, ROW = 600, DEPTH = 3 };

typedef struct maker {
    vyre_text head, body;
    uint64_t random;
    uint32_t outputs, lets, loops, atomics, depth;
} maker;

static uint32_t below(maker *m, uint32_t n) {
    return (uint32_t)(test_random(&m->random) % n);
}

static const char *pick(maker *m, const char *const *from, uint32_t count) {
    return from[below(m, count)];
}

static void say(maker *m, const char *format, ...) VYRE_PRINTF(2, 3);
static void say(maker *m, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vyre_text_vprintf(&m->body, format, arguments);
    va_end(arguments);
}

/* What is the same for all lanes of a row; small ones are divided by. */
static void say_uniform(maker *m) {
    static const char *const some[] = {"w", "n", "n / 2", "w + y", "a[3] % 90", "a[y] % 300", "k"};
    if (below(m, 2)) {
        say(m, "%s", pick(m, some, sizeof some / sizeof *some));
    } else {
        say(m, "%u", below(m, 3) ? below(m, 300) : below(m, 9));
    }
}

/* Linear in the lane, or nearly. */
static void say_index(maker *m) {
    const uint32_t c = below(m, 40);
    switch (below(m, 14)) {
    case 0: say(m, "x - %u", c); break;
    case 1: say(m, "select(x == %u, w, x - 1)", c); break;
    case 2: say(m, "select(x + 1 < w, x + 1, %u)", c); break;
    case 3: say(m, "select(x > 0, x - 1, w)"); break;
    case 4: say(m, "min(x + 1, w)"); break;
    case 5: say(m, "max(x, %u) - %u", c, c); break;
    case 6: say(m, "(x / w * w * 2 + x %% w)"); break;
    case 7: say(m, "(x + w - 1) %% w"); break;
    case 8: say(m, "(x ^ k)"); break;
    case 9: say(m, "(x >> %u) + (x & 127)", below(m, 9)); break;
    case 10: say(m, "u32(max(i32(x) - %u, 0))", c); break;
    case 11: say(m, "y * w + x"); break;
    default: say(m, "x + %u", c); break;
    }
}

static void say_comparison(maker *m) {
    static const char *const ops[] = {"<", "<=", ">", ">=", "==", "!="};
    static const char *const linear[] = {"x", "x + 3", "x - 2", "x % w", "x / w", "y", "(x ^ k)"};
    const char *op = pick(m, ops, 6), *what = pick(m, linear, sizeof linear / sizeof *linear);
    if (below(m, 4)) {
        say(m, "%s %s ", what, op);
        say_uniform(m);
    } else {
        say_uniform(m);
        say(m, " %s %s", op, what);
    }
}

static void say_condition(maker *m) {
    const uint32_t parts = 1 + below(m, 3);
    for (uint32_t i = 0; i < parts; i++) {
        say(m, "%s%s(", i ? (below(m, 3) ? " && " : " || ") : "", below(m, 5) ? "" : "!");
        if (below(m, 8) == 0) {
            say(m, "a[");
            say_index(m);
            say(m, "] %% 3 == 0");
        } else if (m->lets > 0 && below(m, 4) == 0) {
            say(m, "c%u", below(m, m->lets));
        } else {
            say_comparison(m);
        }
        say(m, ")");
    }
}

/* Bytes and 16-bit integers, of which some results fit into 16 bits. */
static void say_small(maker *m) {
    static const char *const forms[] = {"c[#] + c[@] + d[#]",
                                        "(c[#] * 3 + c[@] >> 2) & 63",
                                        "c[#] * c[@]",
                                        "c[#] * c[@] + c[@] * 9",
                                        "select(c[#] > d[@], c[@], 7)",
                                        "d[#] / 3 %% 50 + (c[@] ^ 170)",
                                        "max(c[#], d[@]) | 5",
                                        "u32(i32(c[#]) - i32(c[@]))",
                                        "d[#] + d[@]",
                                        "min(c[#] + 7, 200)",
                                        "select(c[#] %% 7 < 3 && c[@] != 9, 1, 0)"};
    const char *form = pick(m, forms, sizeof forms / sizeof *forms);
    for (; *form; form++) {
        if (*form == '#' || *form == '@') {
            say(m, "x + %u", *form == '#' ? 1 : 40 * below(m, 2));
        } else if (*form != '%' || form[1] != '%') {
            say(m, "%c", *form);
        }
    }
}

static void say_value(maker *m) {
    if (below(m, 3) == 0) {
        say_small(m);
        say(m, " + ");
    }
    say(m, "a[");
    say_index(m);
    say(m, "] + 3 * a[");
    say_index(m);
    say(m, "] + s");
    if (below(m, 3) == 0) {
        say(m, " + select(");
        say_comparison(m);
        say(m, ", 5, x %% 4)");
    }
}

static void say_store(maker *m) {
    static const char *const places[] = {"x", "x + 17", "(x ^ 32)", "x + w", "(x ^ k)", "w - x"};
    if (m->outputs < OUTPUTS) {
        vyre_text_printf(&m->head, " out o%u : %s[%d];", m->outputs, below(m, 4) ? "u32" : "u8",
                         ELEMENTS);
        say(m, "o%u[y * %d + %s] = ", m->outputs, ROW, pick(m, places, 6));
        m->outputs++;
        say_value(m);
        say(m, ";\n");
    }
}

/* Of a buffer that nothing else touches: on one element, one for each row, or several. */
static void say_atomic(maker *m) {
    static const char *const ops[] = {"add", "xor", "max", "min", "or"};
    static const char *const values[] = {"x * 3 + s", "a[x + 1]", "7", "s"};
    static const char *const places[] = {"3", "y", "x % 5", "x", "9"};
    const uint32_t n = m->atomics++;
    const char *op = pick(m, ops, 5), *type = below(m, 3) ? "u32" : "i64";
    vyre_text_printf(&m->head, " out h%u : %s[9];", n, type);
    for (uint32_t i = 1 + below(m, 2); i > 0; i--) {
        const char *place = pick(m, places, below(m, 3) ? 2 : 5);
        say(m, "atomic_%s(h%u[%s], %s(%s));\n", op, n, place, type, pick(m, values, 4));
    }
}

/* A loop along a row, along elements that are mostly side by side, or of varying length. */
static void say_sum(maker *m) {
    static const char *const loops[] = {
        "0 .. 3) { s = s + a[x + j]; }",
        "0 .. x % 4) { s = s + a[x + j]; }",
        "0 .. k % 13) { s = s * 3 + a[x * w + j]; }",
        "1 .. n / 9) { s = s * 3 + a[x * 3 + j] + a[x * x + j]; }",
        "0 .. 5) { s = s + a[min(max(x + j, 8) - 8, w)]; }",
        "0 .. k) { s = s + a[(x + j) % n] + a[x * 2 + j]; }",
        "0 .. w) { let at = select(x + j < n, x + j, w); s = s + a[at] * 3 + a[at + 1]; }"};
    say(m, "for (j in %s\n", pick(m, loops, sizeof loops / sizeof *loops));
}

/* Text in which # stands for a number. */
static void say_numbered(maker *m, const char *text, uint32_t number) {
    for (; *text; text++) {
        if (*text == '#') {
            say(m, "%u", number);
        } else {
            say(m, "%c", *text);
        }
    }
}

static void say_list(maker *m, uint32_t most);

static void say_if(maker *m) {
    say(m, "if (");
    say_condition(m);
    say(m, ") {\n");
    say_list(m, 2);
    if (below(m, 3) == 0) {
        say(m, "} else {\n");
        say_list(m, 2);
    }
    say(m, "}\n");
}

/* A loop that lanes leave apart, by itself or in another one, with variables that are looked at
 * behind it or not. */
static void say_loop(maker *m) {
    static const char *const bodies[] = {
        "", "if (q# % 5 == 0) { q# = q# + t#; }",
        "if (t# % 6 == q# % 6) { r# = r# + 2; continue; } q# = q# + t# * 5;",
        "q# = q# * 3; if (t# % 9 == 4) { q# = r#; break; } t# = t# + 1;"};
    static const char *const behind[] = {"", " + t#", " + q#", " + t# * 3 + q#"};
    const uint32_t n = m->loops++;
    const bool within = below(m, 3) == 0;
    say_numbered(m, "let t# = (x * 5 + s) % 97; let q# = t#; let r# = 0;\n", n);
    if (within) {
        say(m, "for (j in 0 .. 2) { s = s + j;\n");
    }
    say_numbered(m, "while (t# % 8 != s % 7 && r# < 20) { t# = t# * 3 + 1; ", n);
    say_numbered(m, bodies[below(m, 4)], n);
    say_numbered(m, " r# = r# + 1; }\n", n);
    if (within) {
        say_numbered(m, below(m, 2) ? "t# = t# + 1; }\n" : "r# = 0; }\n", n);
    }
    say_numbered(m, "s = s + r#", n);
    say_numbered(m, behind[below(m, 4)], n);
    say(m, ";\n");
}

static void say_list(maker *m, uint32_t most) {
    m->depth++;
    for (uint32_t i = 1 + below(m, most); i > 0; i--) {
        const uint32_t kind = below(m, 14);
        if (kind < 4) {
            say_store(m);
        } else if (kind < 8 && m->depth < DEPTH) {
            say_if(m);
        } else if (kind == 8) {
            say(m, "s = s * 3 + x;\n");
        } else if (kind == 9 && m->depth == 1) {
            say(m, "if (");
            say_condition(m);
            say(m, ") { exit; }\n");
        } else if (kind == 10 && m->depth == 1) {
            say(m, "let c%u = ", m->lets);
            say_condition(m);
            say(m, ";\n");
            m->lets++;
        } else if (kind == 11) {
            say_sum(m);
        } else if (kind == 12) {
            say_loop(m);
        } else if (kind == 13) {
            say_atomic(m);
        }
    }
    m->depth--;
}

static char *make(uint64_t seed) {
    maker m = {.random = seed * 77 + 5};
    const vyre_allocator a = vyre_allocator_or_system(NULL);
    vyre_text_init(&m.head, &a);
    vyre_text_init(&m.body, &a);
    static const uint32_t sizes[] = {1, 20, 24, 32, 64};
    vyre_text_printf(&m.head, "program p workgroup(%u) { in a : u32[]; in c : u8[]; in d : u16[];",
                     sizes[below(&m, 5)]);
    say(&m, "let x = global_id.x; let y = global_id.y; let n = len(a); let s = 1;\n");
    if (below(&m, 2)) {
        say(&m,
            "let small = c[x] + c[x + 3] * 2; s = select(small > 300, small, small / 4 + d[x]);\n");
    }
    say(&m, "let w = a[1] %% %u; let k = 1 << (a[2] %% 8);\n", below(&m, 2) ? 100 : 9);
    say_list(&m, 6);
    say_store(&m);
    vyre_text_printf(&m.head, "\n%s}\n", vyre_text_string(&m.body));
    REQUIRE(!m.head.failed);
    vyre_text_finish(&m.body);
    char *text = strdup(vyre_text_string(&m.head));
    vyre_text_finish(&m.head);
    return text;
}

static void check(uint64_t seed) {
    static const char *const devices[] = {"cpu://threads=1", "cpu://threads=2&gang=4",
                                          "cpu://threads=1&features=sse2"};
    uint32_t words[300];
    uint16_t small[1000];
    uint64_t random = seed;
    char *text = make(seed);
    for (uint32_t i = 0; i < 300; i++) {
        words[i] = (uint32_t)test_random(&random) % 1000;
    }
    for (uint32_t i = 0; i < 1000; i++) {
        small[i] = (uint16_t)test_random(&random);
    }
    vyre_program *program = run_parse(text);
    const vyre_input inputs[] = {
        {words, 4 * (100 + seed % 200)}, {small, 100 + seed % 900}, {small, 2 * (seed % 500)}};
    const uint32_t lanes = vyre_program_get(program)->workgroup[0];
    const vyre_dispatch_options options = {.has_grid = true,
                                           .grid = {(uint32_t)(seed % 400) / lanes + 1, 2, 1}};
    run_result want = run_program("ref", program, inputs, 3, &options);
    REQUIRE_OK(want.status, &want.diag);
    run_result got = run_program(devices[seed % 3], program, inputs, 3, &options);
    CHECK_STATUS(got.status, VYRE_OK, &got.diag);
    if (got.status == VYRE_OK && !run_same(&want, &got)) {
        test_fail(__FILE__, __LINE__, "%s, seed %llu, %zu words, %u groups:\n%s", devices[seed % 3],
                  (unsigned long long)seed, inputs[0].size / 4, options.grid[0], text);
    }
    run_finish(&got);
    run_finish(&want);
    vyre_program_release(program);
    free(text);
}

TEST(random_segments_in_pieces) {
    vyre_device *device = NULL;
    if (vyre_device_open(NULL, "cpu", NULL, &device, NULL) != VYRE_OK) {
        test_skip("there is no LLVM 19");
    }
    vyre_device_close(device);
    for (uint64_t seed = 1; seed <= test_scaled(120) && !test_failed(); seed++) {
        check(seed);
    }
}
