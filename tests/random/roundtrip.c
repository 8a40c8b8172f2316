/* The round trip of one program. */
#include "random/roundtrip.h"

#include <stdio.h>
#include <string.h>

#include "random/random_program.h"
#include "random/sugar.h"
#include "vyre/check.h"

void roundtrip_init(roundtrip *r) {
    vyre_text_init(&r->printed, NULL);
    vyre_text_init(&r->again, NULL);
    vyre_text_init(&r->formatted, NULL);
    r->why[0] = '\0';
    r->sugared = r->loops = 0;
}

void roundtrip_finish(roundtrip *r) {
    vyre_text_finish(&r->printed);
    vyre_text_finish(&r->again);
    vyre_text_finish(&r->formatted);
}

static bool append(void *user, const char *text, size_t length) {
    vyre_text_append(user, text, length);
    return true;
}

static bool fail(roundtrip *r, const char *what, const vyre_diag *diag) {
    (void)snprintf(r->why, sizeof r->why, "%s", what);
    if (diag) {
        (void)snprintf(r->why, sizeof r->why, "%s: line %u: %s %s", what, diag->line, diag->code,
                       diag->message);
    }
    return false;
}

static bool same(const vyre_text *a, const vyre_text *b) {
    return strcmp(vyre_text_string(a), vyre_text_string(b)) == 0;
}

static vyre_program *parse(const vyre_text *text, vyre_diag *diag) {
    vyre_diag_list diags = {.items = diag, .capacity = 1};
    vyre_program *program = NULL;
    (void)vyre_parse(vyre_text_string(text), text->length, NULL, NULL, &program, &diags);
    return program;
}

static bool format(const vyre_text *from, vyre_text *to, vyre_diag *diag) {
    vyre_diag_list diags = {.items = diag, .capacity = 1};
    vyre_text_reset(to);
    return vyre_format(vyre_text_string(from), from->length, NULL, NULL, append, to, &diags) ==
           VYRE_OK;
}

static bool check_parsed(roundtrip *r, const vyre_program *program) {
    vyre_diag diag = {0};
    vyre_program *parsed = parse(&r->printed, &diag);
    if (!parsed) {
        return fail(r, "the printed text is refused", &diag);
    }
    const bool equal = vyre_program_equal(parsed, program);
    const bool hashed = vyre_program_get(parsed)->hash == vyre_program_get(program)->hash;
    vyre_text_reset(&r->again);
    (void)vyre_program_print(parsed, append, &r->again);
    vyre_program_release(parsed);
    return !same(&r->printed, &r->again) ? fail(r, "printing again gives another text", NULL)
           : !hashed                     ? fail(r, "the parsed program has another hash", NULL)
           : !equal                      ? fail(r, "the parsed program is another one", NULL)
                                         : true;
}

static bool check_formatted(roundtrip *r, const vyre_program *program) {
    vyre_diag diag = {0};
    if (!format(&r->printed, &r->formatted, &diag)) {
        return fail(r, "the printed text can't be formatted", &diag);
    }
    if (!format(&r->formatted, &r->again, &diag) || !same(&r->formatted, &r->again)) {
        return fail(r, "formatting again gives another text", NULL);
    }
    if (same(&r->formatted, &r->printed)) {
        return true; /* already parsed */
    }
    vyre_program *parsed = parse(&r->formatted, &diag);
    const bool equal = parsed && vyre_program_equal(parsed, program);
    vyre_program_release(parsed);
    return parsed ? equal || fail(r, "the formatted program is another one", NULL)
                  : fail(r, "the formatted text is refused", &diag);
}

bool roundtrip_check(roundtrip *r, const vyre_program *program) {
    vyre_text_reset(&r->printed);
    (void)vyre_program_print(program, append, &r->printed);
    return check_parsed(r, program) && check_formatted(r, program);
}

static bool check_loops(roundtrip *r, const vyre_program *program) {
    vyre_diag diag = {0};
    if (!sugar_loops(vyre_text_string(&r->printed), &r->again)) {
        return true;
    }
    r->loops++;
    if (!format(&r->again, &r->formatted, &diag)) {
        return fail(r, "loops as in C can't be formatted", &diag);
    }
    vyre_program *parsed = parse(&r->formatted, &diag);
    const bool equal = parsed && vyre_program_equal(parsed, program);
    vyre_program_release(parsed);
    return parsed ? equal || fail(r, "loops as in C are another program", NULL)
                  : fail(r, "loops as in C are refused", &diag);
}

bool roundtrip_sugar(roundtrip *r, const vyre_program *program, uint64_t seed) {
    vyre_diag diag = {0};
    if (!check_loops(r, program)) {
        return false;
    }
    if (!sugar_memory_argument(program, vyre_text_string(&r->printed), seed, &r->again)) {
        return true;
    }
    r->sugared++;
    if (!format(&r->again, &r->formatted, &diag)) {
        return fail(r, "memory as an argument can't be formatted", &diag);
    }
    vyre_program *parsed = parse(&r->formatted, &diag);
    if (!parsed) {
        return fail(r, "memory as an argument is refused", &diag);
    }
    vyre_text_reset(&r->again);
    (void)vyre_program_print(parsed, append, &r->again);
    vyre_program_release(parsed);
    sugar_sorted(vyre_text_string(&r->again), &r->formatted);
    sugar_sorted(vyre_text_string(&r->printed), &r->again);
    return same(&r->formatted, &r->again) || fail(r, "memory as an argument changes it", NULL);
}

bool roundtrip_seed(roundtrip *r, uint64_t seed, vyre_program **out_program) {
    vyre_diag items[32] = {0};
    vyre_diag_list diags = {.items = items, .capacity = sizeof items / sizeof *items};
    *out_program = NULL;
    if (random_syntax(seed, out_program, items) != VYRE_OK) {
        return fail(r, "the program can't be built", items);
    }
    if (!roundtrip_check(r, *out_program) || !roundtrip_sugar(r, *out_program, seed)) {
        return false;
    }
    if (vyre_check(*out_program, NULL, &diags) == VYRE_OK) {
        return true;
    }
    uint32_t at = 0; /* the first error behind all warnings */
    while (at + 1 < diags.count && items[at].severity != VYRE_ERROR) {
        at++;
    }
    return fail(r, "the program is refused", &items[at]);
}
