/* Works on what the printer writes: functions begin with "    fn " and end with "    }", a loop
 * begins a line. */
#include "random/sugar.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/names.h"

static const char argument[] = "passed_memory_";

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Behind the next word, number, string or other character at `at`. */
static const char *token_end(const char *at) {
    if (*at == '"') {
        for (at++; *at != '"'; at++) {
            at += *at == '\\';
        }
        return at + 1;
    }
    const char *end = at;
    while (is_word(*end)) {
        end++;
    }
    return end > at ? end : at + 1;
}

static bool is(const char *at, const char *end, const char *word) {
    return (size_t)(end - at) == strlen(word) && strncmp(at, word, (size_t)(end - at)) == 0;
}

/* Whether the word occurs, if `called` before a bracket. */
static bool names(const char *at, const char *end, const char *word, bool called) {
    for (const char *next; at < end; at = next) {
        next = token_end(at);
        if (is(at, next, word) && (!called || *next == '(')) {
            return true;
        }
    }
    return false;
}

/* The function's text, from its `fn` to behind the brace that closes it. */
static bool find_function(const char *printed, const char *name, const char **begin,
                          const char **end) {
    char head[300];
    (void)snprintf(head, sizeof head, "\n    fn %s(", name);
    const char *at = strstr(printed, head);
    if (!at) {
        return false;
    }
    *begin = at + 1;
    *end = strstr(at, "\n    }\n");
    *end = *end ? *end + strlen("\n    }\n") : NULL;
    return *end != NULL;
}

/* Words that mean something in their place are found there, too. */
static bool means_more(const char *name) {
    static const char *const words[] = {
        "relaxed", "acquire", "release",   "acq_rel",       "seq_cst",
        "sum",     "reads",   "writes",    "opaque",        "returns",
        "x",       "y",       "z",         "readonly",      "writeonly",
        "grid",    "step",    "global_id", "subgroup_size", "subgroup_local_id"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i], name) == 0) {
            return true;
        }
    }
    return vyre_name_is_operation(name, strlen(name));
}

static bool can_pass(const vyre_decl_node *d) {
    return d->role < VYRE_PARAM && d->access == VYRE_ACCESS_FULL && !means_more(d->name);
}

/* Copies the text: calls pass the memory, and in [begin, end) it has the argument's name. */
static void rewrite(const char *printed, const char *begin, const char *end, const char *fn,
                    const vyre_decl_node *d, vyre_text *out) {
    for (const char *at = printed, *next; *at; at = next) {
        const bool inside = at >= begin && at < end;
        next = token_end(at);
        if (is(at, next, fn) && *next == '(') {
            const bool empty = next[1] == ')';
            if (inside) {
                vyre_text_printf(out, "%s(%s : %s %s%s", fn, argument,
                                 d->role == VYRE_IN ? "in" : "inout",
                                 vyre_type_name((vyre_type)d->type), &"[][][]"[6 - 2 * d->rank]);
            } else {
                vyre_text_printf(out, "%s(%s", fn, d->name);
            }
            vyre_text_append(out, ", ", empty ? 0 : 2);
            next++;
        } else if (inside && is(at, next, d->name)) {
            vyre_text_append(out, argument, strlen(argument));
        } else {
            vyre_text_append(out, at, (size_t)(next - at));
        }
    }
}

bool sugar_memory_argument(const vyre_program *program, const char *printed, uint64_t seed,
                           vyre_text *out) {
    const vyre_program_view *p = vyre_program_get(program);
    for (uint32_t i = 0; i < p->fn_count; i++) {
        const uint32_t fn = (uint32_t)((seed + i) % p->fn_count);
        const char *begin, *end, *name = p->fns[fn].name;
        if (p->fns[fn].opaque || means_more(name) || !find_function(printed, name, &begin, &end) ||
            (!names(printed, begin, name, true) && !names(end, end + strlen(end), name, true))) {
            continue;
        }
        for (uint32_t k = 0; k < p->decl_count; k++) {
            const vyre_decl_node *d = &p->decls[(seed / 7 + k) % p->decl_count];
            if (can_pass(d) && names(begin, end, d->name, false)) {
                vyre_text_reset(out);
                rewrite(printed, begin, end, name, d, out);
                return true;
            }
        }
    }
    return false;
}

bool sugar_loops(const char *printed, vyre_text *out) {
    static const char begins[] = "while (", ends[] = ") {";
    bool any = false;
    vyre_text_reset(out);
    for (const char *at = printed; *at;) {
        const size_t length = strcspn(at, "\n"), indent = strspn(at, " ");
        const char *text = at + indent;
        const size_t rest = length - indent;
        if (rest > strlen(begins) + strlen(ends) && strncmp(text, begins, strlen(begins)) == 0 &&
            strncmp(text + rest - strlen(ends), ends, strlen(ends)) == 0) {
            const size_t condition = rest - strlen(begins) - strlen(ends);
            const char *value = text + strlen(begins);
            const bool always = condition == 4 && strncmp(value, "true", 4) == 0;
            vyre_text_append(out, at, indent);
            vyre_text_printf(out, "for (;%.*s;) {", always ? 0 : (int)condition, value);
            any = true;
        } else {
            vyre_text_append(out, at, length);
        }
        vyre_text_append(out, "\n", 1);
        at += length + (at[length] == '\n');
    }
    return any;
}

typedef struct piece {
    const char *begin;
    size_t length;
} piece;

static int compare(const void *a, const void *b) {
    const piece *x = a, *y = b;
    const size_t shorter = x->length < y->length ? x->length : y->length;
    const int order = memcmp(x->begin, y->begin, shorter);
    return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

void sugar_sorted(const char *printed, vyre_text *out) {
    enum { MOST = 64 };
    piece pieces[MOST];
    size_t count = 0;
    const char *at = printed;
    vyre_text_reset(out);
    for (const char *next; count < MOST && (next = strstr(at, "\n    fn ")) != NULL;) {
        const char *end = strstr(next, "\n    }\n") + strlen("\n    }\n");
        vyre_text_append(out, at, (size_t)(next - at));
        pieces[count++] = (piece){next, (size_t)(end - next)};
        at = end;
    }
    vyre_text_append(out, at, strlen(at));
    qsort(pieces, count, sizeof *pieces, compare);
    for (size_t i = 0; i < count; i++) {
        vyre_text_append(out, pieces[i].begin, pieces[i].length);
    }
}
