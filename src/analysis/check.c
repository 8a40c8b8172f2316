/* The validator: runs the checks and orders what they report.
 *
 * Declarations come first, then all statements with their expressions, then the call graph; only a
 * program without errors so far is judged for uniformity. Everything is a loop over the flat
 * arrays of the program; cost is linear but for the analyses it calls. An expression, variable or
 * declaration that was reported is marked bad, and what uses it stays silent: one report per
 * cause. */
#include "vyre/check.h"

#include <stdio.h>

#include "analysis/checker.h"
#include "base/diag.h"

/* More errors, warnings and notes than anybody reads; later ones are only counted. */
enum { REPORTS = 512 };

VYRE_PRINTF(6, 0)
static void report(vyre_checker *c, vyre_severity severity, const char *code, vyre_place place,
                   const char *fix, const char *format, va_list args) {
    c->errors += severity == VYRE_ERROR;
    c->warnings += severity == VYRE_WARNING;
    if (severity == VYRE_NOTE ? c->dropped : (c->dropped = c->reports.count >= REPORTS)) {
        return;
    }
    vyre_diag room = {0};
    vyre_diag_list one = {.items = &room, .capacity = 1};
    const vyre_status status = severity == VYRE_ERROR ? VYRE_INVALID_PROGRAM : VYRE_OK;
    /* A list takes a note only behind its parent; here it is filled in alone. */
    (void)vyre_report_v(&one, severity == VYRE_NOTE ? VYRE_WARNING : severity, status, code, place,
                        fix, format, args);
    room.severity = severity;
    if (!vyre_vec_push(&c->allocator, &c->reports, room)) {
        c->failed = true;
    }
}

void vyre_checker_error(vyre_checker *c, const char *code, vyre_place place, const char *fix,
                        const char *format, ...) {
    va_list args;
    va_start(args, format);
    report(c, VYRE_ERROR, code, place, fix, format, args);
    va_end(args);
}

void vyre_checker_warn(vyre_checker *c, const char *code, vyre_place place, const char *fix,
                       const char *format, ...) {
    va_list args;
    va_start(args, format);
    report(c, VYRE_WARNING, code, place, fix, format, args);
    va_end(args);
}

void vyre_checker_note(vyre_checker *c, vyre_place place, const char *format, ...) {
    va_list args;
    va_start(args, format);
    report(c, VYRE_NOTE, "", place, NULL, format, args);
    va_end(args);
}

uint32_t vyre_checker_name(vyre_checker *c, const char *name) {
    size_t length = 0;
    while (name[length] != '\0') {
        length++;
    }
    const uint32_t number = vyre_intern_add(&c->names, name, length);
    if (number == VYRE_INTERN_NONE ||
        (number == c->visible.count && !vyre_vec_push(&c->allocator, &c->visible, false))) {
        c->failed = true;
        return VYRE_NONE;
    }
    return number;
}

static bool before(const vyre_diag *a, const vyre_diag *b) {
    return a->line != b->line ? a->line < b->line : a->col < b->col;
}

void vyre_checker_hand_over(vyre_checker *c, vyre_diag_list *to) {
    uint32_t order[REPORTS + 1], heads = 0;
    for (uint32_t i = 0; i < c->reports.count; i++) {
        if (c->reports.data[i].severity == VYRE_NOTE) {
            continue;
        }
        uint32_t at = heads++;
        for (; at > 0 && before(&c->reports.data[i], &c->reports.data[order[at - 1]]); at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    if (heads == 0 && c->reports.count > 0) { /* notes on a program that is right */
        order[heads++] = 0;
    }
    for (uint32_t k = 0; k < heads; k++) {
        uint32_t i = order[k];
        do {
            const vyre_diag *d = &c->reports.data[i];
            const vyre_place place = {
                .file = d->file, .line = d->line, .col = d->col, .end_col = d->end_col};
            (void)vyre_report(to, d->severity, d->status, d->code, place, d->fix, "%s", d->message);
        } while (++i < c->reports.count && c->reports.data[i].severity == VYRE_NOTE);
        to->errors -= c->reports.data[order[k]].severity == VYRE_ERROR;
        to->warnings -= c->reports.data[order[k]].severity == VYRE_WARNING;
    }
    to->errors += c->errors;
    to->warnings += c->warnings;
}

static bool prepare(vyre_checker *c) {
    const vyre_allocator *a = &c->allocator;
    const vyre_program_view *p = c->p;
    c->bad_expr = vyre_alloc_zeroed(a, p->expr_count, sizeof *c->bad_expr);
    c->bad_var = vyre_alloc_zeroed(a, p->var_count, sizeof *c->bad_var);
    c->bad_decl = vyre_alloc_zeroed(a, p->decl_count, sizeof *c->bad_decl);
    c->height = vyre_alloc_zeroed(a, p->expr_count, sizeof *c->height);
    c->known = vyre_alloc_zeroed(a, p->decl_count, sizeof *c->known);
    c->value = vyre_alloc_zeroed(a, p->decl_count, sizeof *c->value);
    c->weight = vyre_alloc_zeroed(a, p->decl_count, sizeof *c->weight);
    c->in_scope = vyre_alloc_zeroed(a, p->var_count, sizeof *c->in_scope);
    return c->bad_expr && c->bad_var && c->bad_decl && c->height && c->known && c->value &&
           c->weight && c->in_scope;
}

static void finish(vyre_checker *c) {
    const vyre_allocator *a = &c->allocator;
    const vyre_program_view *p = c->p;
    vyre_free(a, c->bad_expr, p->expr_count, sizeof *c->bad_expr);
    vyre_free(a, c->bad_var, p->var_count, sizeof *c->bad_var);
    vyre_free(a, c->bad_decl, p->decl_count, sizeof *c->bad_decl);
    vyre_free(a, c->height, p->expr_count, sizeof *c->height);
    vyre_free(a, c->known, p->decl_count, sizeof *c->known);
    vyre_free(a, c->value, p->decl_count, sizeof *c->value);
    vyre_free(a, c->weight, p->decl_count, sizeof *c->weight);
    vyre_free(a, c->in_scope, p->var_count, sizeof *c->in_scope);
    vyre_vec_free(a, &c->visible);
    vyre_vec_free(a, &c->reports);
    vyre_intern_finish(&c->names);
}

vyre_status vyre_check(const vyre_program *program, const vyre_allocator *allocator,
                       vyre_diag_list *diags) {
    vyre_checker c = {.allocator = vyre_allocator_or_system(allocator),
                      .program = program,
                      .p = vyre_program_get(program)};
    vyre_intern_init(&c.names, &c.allocator);
    c.failed = !prepare(&c);
    if (!c.failed) {
        vyre_check_decls(&c);
    }
    if (!c.failed) {
        vyre_check_bodies(&c);
    }
    if (!c.failed) {
        vyre_check_calls(&c);
    }
    const vyre_status status = c.failed       ? VYRE_OUT_OF_MEMORY
                               : c.errors > 0 ? VYRE_INVALID_PROGRAM
                                              : VYRE_OK;
    if (diags && !c.failed) {
        vyre_checker_hand_over(&c, diags);
    }
    finish(&c);
    return status;
}
