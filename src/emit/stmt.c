/* Statements as text of C: one loop over the linear list of a program without calls. Scopes of the
 * language are scopes of C, variables are declared where they are bound, and every statement ends
 * with the line of the source that it stands for. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/range.h"
#include "base/diag.h"
#include "emit/emit.h"
#include "ir/fold.h"
#include "ir/print.h"

/* ---- a program ---- */

static vyre_status prove(emit_program *e, const vyre_allocator *a) {
    const vyre_program_view *p = e->p;
    vyre_ranges *ranges = NULL;
    if (vyre_ranges_create(e->program, a, &ranges) != VYRE_OK) {
        return VYRE_OUT_OF_MEMORY;
    }
    for (vyre_stmt i = p->entry; i < p->stmt_count; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        for (vyre_expr k = s->first_expr; k < s->end_expr; k++) {
            e->proven[k] = p->exprs[k].op == VYRE_EXPR_LOAD && vyre_ranges_load_inside(ranges, k);
        }
        e->proven[p->expr_count + i] = (s->op == VYRE_STMT_STORE || s->op == VYRE_STMT_ATOMIC) &&
                                       vyre_ranges_access_inside(ranges, i);
    }
    vyre_ranges_destroy(ranges);
    return VYRE_OK;
}

/* The number of elements: a literal, or a variable that is named after the memory. */
static const char *len_name(emit_program *e, vyre_decl decl) {
    char name[VYRE_LIMIT_NAME + 8];
    uint64_t count;
    if (emit_constant_count(e->p, decl, &count)) {
        (void)snprintf(name, sizeof name, "%lluu", (unsigned long long)count);
        const uint32_t number = vyre_intern_add(&e->names.used, name, strlen(name));
        return number == VYRE_INTERN_NONE ? NULL : vyre_intern_text(&e->names.used, number);
    }
    (void)snprintf(name, sizeof name, "len_%.240s", e->p->decls[decl].name);
    return emit_name(&e->names, name);
}

static bool name_all(emit_program *e) {
    const vyre_program_view *p = e->p;
    bool ok = emit_names_init(&e->names, &e->a);
    for (vyre_decl d = 0; d < p->decl_count && ok; d++) {
        e->decls[d] = emit_name(&e->names, p->decls[d].name);
        ok = e->decls[d] != NULL;
    }
    for (vyre_decl d = 0; d < p->decl_count && ok; d++) {
        if (vyre_role_is_memory((vyre_role)p->decls[d].role)) {
            e->lens[d] = len_name(e, d);
            ok = e->lens[d] != NULL;
        }
    }
    for (vyre_var v = 0; v < p->var_count && ok; v++) {
        e->vars[v] = emit_name(&e->names, p->vars[v].name);
        ok = e->vars[v] != NULL;
    }
    return ok;
}

vyre_status emit_program_init(emit_program *e, const emit_dialect *dialect, emit_used *used,
                              vyre_text *out, const vyre_program *program, bool proves,
                              const vyre_allocator *a, vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    *e = (emit_program){
        .dialect = dialect, .used = used, .a = *a, .out = out, .program = program, .p = p};
    vyre_arena_init(&e->texts, a);
    e->decls = vyre_alloc_zeroed(a, p->decl_count, sizeof *e->decls);
    e->lens = vyre_alloc_zeroed(a, p->decl_count, sizeof *e->lens);
    e->vars = vyre_alloc_zeroed(a, p->var_count, sizeof *e->vars);
    e->spaces = vyre_alloc_zeroed(a, p->decl_count, sizeof *e->spaces);
    e->proven = vyre_alloc_zeroed(a, (size_t)p->expr_count + p->stmt_count, sizeof *e->proven);
    for (vyre_decl d = 0; d < p->decl_count && e->spaces; d++) {
        e->spaces[d] = p->decls[d].role == VYRE_WORKGROUP ? EMIT_WORKGROUP
                       : p->decls[d].role == VYRE_PRIVATE ? EMIT_PRIVATE
                                                          : EMIT_BUFFER;
    }
    const bool ok = e->decls && e->lens && e->vars && e->spaces && e->proven && name_all(e) &&
                    (!proves || prove(e, a) == VYRE_OK);
    if (!ok) {
        emit_program_finish(e);
        return vyre_fail_memory(diag, "the text of a program");
    }
    return VYRE_OK;
}

void emit_part_spaces(emit_program *e, const vyre_program_view *source,
                      const vyre_segment_decl *decls) {
    for (vyre_decl d = 0; d < e->p->decl_count; d++) {
        const vyre_segment_decl what = decls ? decls[d]
                                       : d < source->decl_count
                                           ? (vyre_segment_decl){VYRE_DECL_SOURCE, d}
                                           : (vyre_segment_decl){VYRE_DECL_PLACE, 0};
        if (what.kind == VYRE_DECL_OWN || what.kind == VYRE_DECL_PLACE ||
            (what.kind == VYRE_DECL_SOURCE && source->decls[what.ref].role == VYRE_WORKGROUP)) {
            e->spaces[d] = EMIT_WORKGROUP;
        }
    }
}

void emit_trust(emit_program *e, const vyre_segment_decl *decls) {
    const vyre_program_view *p = e->p;
    for (vyre_stmt i = p->entry; i < p->stmt_count; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        for (vyre_expr k = s->first_expr; k < s->end_expr; k++) {
            const vyre_expr_node *n = &p->exprs[k];
            e->proven[k] |= n->op == VYRE_EXPR_LOAD && (decls[n->ref].kind == VYRE_DECL_OWN ||
                                                        decls[n->ref].kind == VYRE_DECL_PLACE);
        }
        e->proven[p->expr_count + i] |=
            s->op == VYRE_STMT_STORE &&
            (decls[s->decl].kind == VYRE_DECL_OWN || decls[s->decl].kind == VYRE_DECL_PLACE);
    }
}

void emit_program_finish(emit_program *e) {
    const vyre_program_view *p = e->p;
    vyre_free(&e->a, e->decls, p->decl_count, sizeof *e->decls);
    vyre_free(&e->a, e->lens, p->decl_count, sizeof *e->lens);
    vyre_free(&e->a, e->vars, p->var_count, sizeof *e->vars);
    vyre_free(&e->a, e->spaces, p->decl_count, sizeof *e->spaces);
    vyre_free(&e->a, e->proven, (size_t)p->expr_count + p->stmt_count, sizeof *e->proven);
    vyre_free(&e->a, e->exprs, e->expr_room, sizeof *e->exprs);
    vyre_unique_finish(&e->names);
    vyre_arena_finish(&e->texts);
    *e = (emit_program){.p = p};
}

vyre_status emit_program_status(const emit_program *e, vyre_diag *diag) {
    return e->failed ? vyre_fail_memory(diag, "the text of a program") : VYRE_OK;
}

/* ---- lines ---- */

VYRE_PRINTF(3, 0)
static void put_line(emit_program *e, vyre_place place, const char *format, va_list args) {
    vyre_text_fill(e->out, ' ', (size_t)4 * e->indent);
    vyre_text_vprintf(e->out, format, args);
    if (place.line) {
        vyre_text_printf(e->out, " // line %u", (unsigned)place.line);
    }
    vyre_text_puts(e->out, "\n");
}

void emit_line(emit_program *e, const char *format, ...) {
    va_list args;
    va_start(args, format);
    put_line(e, (vyre_place){0}, format, args);
    va_end(args);
}

void emit_line_of(emit_program *e, vyre_place place, const char *format, ...) {
    va_list args;
    va_start(args, format);
    put_line(e, place, format, args);
    va_end(args);
}

/* ---- statements ---- */

/* What stands in front of a variable where it is bound: its type, unless it is declared already. */
static const char *declared(emit_program *e, vyre_var var) {
    return e->in_rows && e->in_rows[var]
               ? ""
               : emit_format(e, "%s ", emit_value_type((vyre_type)e->p->vars[var].type));
}

/* Whether an expression may be written twice. */
static bool is_simple(const emit_program *e, vyre_expr expr) {
    const uint8_t op = e->p->exprs[expr].op;
    return op == VYRE_EXPR_VAR || op == VYRE_EXPR_LITERAL || op == VYRE_EXPR_REF ||
           op == VYRE_EXPR_BUILTIN || op == VYRE_EXPR_LEN;
}

/* Whether all lanes of a group end together at a statement of the entry body, before others wait.
 */
static bool is_common_end(const vyre_program_view *p, vyre_stmt stmt) {
    return stmt + 2 < p->stmt_count && p->stmts[stmt].op == VYRE_STMT_IF &&
           p->stmts[stmt + 1].op == VYRE_STMT_EXIT && p->stmts[stmt + 2].op == VYRE_STMT_END;
}

bool emit_needs_live(const vyre_program_view *p) {
    bool ends = false;
    uint32_t depth = 0;
    for (vyre_stmt i = p->entry; i < p->stmt_count; i++) {
        const uint8_t op = p->stmts[i].op;
        if (op == VYRE_STMT_BARRIER && ends) {
            return true;
        }
        ends |= depth == 0 && is_common_end(p, i);
        depth += op == VYRE_STMT_IF || op == VYRE_STMT_WHILE || op == VYRE_STMT_FOR ||
                 op == VYRE_STMT_BLOCK || op == VYRE_STMT_REGION;
        depth -= op == VYRE_STMT_END;
    }
    return false;
}

/* Whether an access must not happen once the group has ended: others see it. */
static bool asks_live(const emit_program *e, vyre_stmt stmt) {
    return e->has_live && vyre_role_is_buffer((vyre_role)e->p->decls[e->p->stmts[stmt].decl].role);
}

/* Opens the test of an index unless it is proven; gives the text of the index then. */
static const char *open_test(emit_program *e, vyre_stmt stmt, vyre_place place) {
    const vyre_stmt_node *s = &e->p->stmts[stmt];
    const char *index = emit_expr_text(e, s->arg[0], EMIT_LOOSE);
    if (e->proven[e->p->expr_count + stmt]) {
        if (asks_live(e, stmt)) {
            emit_line(e, "if (vy_live) {");
            e->indent++;
        }
        return index;
    }
    if (!is_simple(e, s->arg[0])) {
        emit_line(e, "{");
        e->indent++;
        emit_line_of(e, place, "const uint32_t vy_i = %s;", index);
        index = "vy_i";
    }
    emit_line_of(e, place, asks_live(e, stmt) ? "if (vy_live & (%s < %s)) {" : "if (%s < %s) {",
                 index, e->lens[s->decl]);
    e->indent++;
    return index;
}

static void close_test(emit_program *e, vyre_stmt stmt) {
    const vyre_stmt_node *s = &e->p->stmts[stmt];
    const bool proven = e->proven[e->p->expr_count + stmt];
    if (proven && !asks_live(e, stmt)) {
        return;
    }
    e->indent--;
    emit_line(e, "}");
    if (!proven && !is_simple(e, s->arg[0])) {
        e->indent--;
        emit_line(e, "}");
    }
}

static void store(emit_program *e, vyre_stmt stmt, vyre_place place) {
    const vyre_stmt_node *s = &e->p->stmts[stmt];
    const char *index = open_test(e, stmt, place);
    const char *value = emit_stored(e, (vyre_type)e->p->decls[s->decl].type,
                                    emit_expr_text(e, s->arg[1], EMIT_LOOSE));
    emit_line_of(e, place, "%s[%s] = %s;", e->decls[s->decl], index, value);
    close_test(e, stmt);
}

static void atomic(emit_program *e, vyre_stmt stmt, vyre_place place) {
    const vyre_stmt_node *s = &e->p->stmts[stmt];
    const vyre_decl_node *d = &e->p->decls[s->decl];
    const emit_space space = (emit_space)e->spaces[s->decl];
    const bool proven = e->proven[e->p->expr_count + stmt] && !asks_live(e, stmt);
    emit_use(e->used, (emit_helper)(EMIT_ATOMIC + s->sub), space, (vyre_type)d->type);
    if (s->var != VYRE_NONE && !proven) {
        emit_line_of(e, place, "%s%s = 0;", declared(e, s->var), e->vars[s->var]);
    }
    const char *index = open_test(e, stmt, place);
    const char *fence = s->ordering == VYRE_RELAXED ? NULL : e->dialect->fence;
    if (fence) {
        emit_line(e, "%s", fence);
    }
    const char *to = s->var == VYRE_NONE ? ""
                     : proven ? emit_format(e, "%s%s = ", declared(e, s->var), e->vars[s->var])
                              : emit_format(e, "%s = ", e->vars[s->var]);
    const char *values = "";
    for (uint32_t i = 1; i < 3 && s->arg[i] != VYRE_NONE; i++) {
        values = emit_format(e, "%s, %s", values, emit_expr_text(e, s->arg[i], EMIT_LOOSE));
    }
    emit_line_of(e, place, "%svy_%s_%s%s(&%s[%s]%s);", to, vyre_atomic_name((vyre_atomic_op)s->sub),
                 vyre_type_name((vyre_type)d->type), space == EMIT_WORKGROUP ? "_local" : "",
                 e->decls[s->decl], index, values);
    if (fence) {
        emit_line(e, "%s", fence);
    }
    close_test(e, stmt);
}

/* Whether an expression has one value in all of a kernel, so that it need not be kept. */
static bool is_fixed(const emit_program *e, vyre_expr expr) {
    const uint8_t op = e->p->exprs[expr].op;
    return op == VYRE_EXPR_LITERAL || op == VYRE_EXPR_REF || op == VYRE_EXPR_LEN;
}

/* A bound or step that the text knows as a number; 0: none. */
static uint64_t number_of(const emit_program *e, vyre_expr expr) {
    const vyre_expr_node *n = &e->p->exprs[expr];
    uint64_t count = 0;
    switch ((int)n->op) {
    case VYRE_EXPR_LITERAL: return n->u.bits;
    case VYRE_EXPR_LEN: return emit_constant_count(e->p, n->ref, &count) ? count : 0;
    case VYRE_EXPR_BUILTIN: return n->sub == VYRE_BUILTIN_GROUP_SIZE ? e->p->workgroup[n->axis] : 0;
    default: return 0;
    }
}

/* Whether a step surely is not 0: a number, or the size of a grid. */
static bool is_step(const emit_program *e, vyre_expr expr) {
    const vyre_expr_node *n = &e->p->exprs[expr];
    return number_of(e, expr) != 0 ||
           (n->op == VYRE_EXPR_BUILTIN && n->sub == VYRE_BUILTIN_GLOBAL_SIZE);
}

/* Whether the value behind the last one of a loop does not wrap. */
static bool stays_low(const emit_program *e, const vyre_stmt_node *s) {
    const uint64_t end = number_of(e, s->arg[1]), step = number_of(e, s->arg[2]);
    return end != 0 && step != 0 && end + step <= UINT32_MAX;
}

/* Bounds and step are evaluated once; the loop ends where its next value would not be below the
 * end, be it that it wraps. Without a step it is 1. */
static void open_for(emit_program *e, vyre_stmt stmt, vyre_place place) {
    const vyre_stmt_node *s = &e->p->stmts[stmt];
    const char *i = e->vars[s->var];
    const bool by_one = s->arg[2] == VYRE_NONE || number_of(e, s->arg[2]) == 1;
    const char *step = by_one ? "1u" : emit_expr_text(e, s->arg[2], EMIT_TERNARY);
    const char *end = emit_expr_text(e, s->arg[1], EMIT_TERNARY), *begin = "", *more = "";
    if (e->has_live) { /* what ends the loop may be missing */
        end = emit_format(e, "vy_live ? %s : 0u", end);
    }
    if (e->has_live || !is_fixed(e, s->arg[1])) {
        begin = emit_format(e, ", vy_end_%s = %s", i, end);
        end = emit_format(e, "vy_end_%s", i);
    }
    if (!by_one && !is_step(e, s->arg[2])) {
        begin = emit_format(e, "%s, vy_step_%s = %s", begin, i, step);
        step = emit_format(e, "vy_step_%s", i);
        more = emit_format(e, " && %s != 0", step);
    }
    const char *next;
    if (by_one) {
        next = emit_format(e, "%s++", i);
    } else if (stays_low(e, s)) {
        next = emit_format(e, "%s += %s", i, step);
    } else {
        emit_use(e->used, EMIT_NEXT, EMIT_PRIVATE, VYRE_U32);
        next = emit_format(e, "%s = vy_next(%s, %s, %s)", i, i, end, step);
    }
    emit_line_of(e, place, "for (uint32_t %s = %s%s; %s < %s%s; %s) {", i,
                 emit_expr_text(e, s->arg[0], EMIT_TERNARY), begin, i, end, more, next);
    e->indent++;
}

static bool write_text(void *text, const char *bytes, size_t length) {
    vyre_text_append(text, bytes, length);
    return true;
}

static void open_scope(emit_program *e, vyre_stmt stmt, vyre_place place) {
    const vyre_stmt_node *s = &e->p->stmts[stmt];
    if (s->op == VYRE_STMT_IF && e->keeps_live && e->indent == 1 && is_common_end(e->p, stmt)) {
        emit_line_of(e, place, "vy_live = vy_live & !(%s);", emit_condition(e, s->arg[0]));
        e->skip_until = stmt + 3;
        e->has_live = true;
        return;
    }
    if (s->op == VYRE_STMT_IF) {
        emit_line_of(e, place, "if (%s) {", emit_condition(e, s->arg[0]));
    } else if (s->op == VYRE_STMT_WHILE) {
        emit_line_of(e, place, e->has_live ? "while (vy_live & (%s)) {" : "while (%s) {",
                     emit_condition(e, s->arg[0]));
    } else if (s->op == VYRE_STMT_REGION) {
        vyre_text_fill(e->out, ' ', (size_t)4 * e->indent);
        vyre_text_puts(e->out, "{ // region ");
        vyre_print_string(s->text, write_text, e->out);
        vyre_text_puts(e->out, "\n");
    } else {
        emit_line(e, "{");
    }
    e->indent++;
}

void emit_quoted(vyre_text *out, const char *text) {
    vyre_text_puts(out, "\"");
    for (const char *at = text; *at; at++) { /* octal: it ends after three digits */
        const unsigned char c = (unsigned char)*at;
        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\' || c == '?') {
            vyre_text_printf(out, "\\%03o", c);
        } else {
            vyre_text_append(out, at, 1);
        }
    }
    vyre_text_puts(out, "\"");
}

static void swap(emit_program *e, vyre_stmt stmt, vyre_place place) {
    const vyre_stmt_node *s = &e->p->stmts[stmt];
    const emit_subst names = {.dialect = e->dialect,
                              .name = {e->decls[s->decl], e->decls[s->decl2]},
                              .operand = {{e->lens[s->decl], EMIT_PRIMARY}}};
    vyre_text_fill(e->out, ' ', (size_t)4 * e->indent);
    emit_expand(e->out, e->dialect->swap, &names);
    vyre_text_printf(e->out, " // line %u\n", (unsigned)place.line);
}

static void trap(emit_program *e, vyre_stmt stmt, vyre_place place) {
    const vyre_stmt_node *s = &e->p->stmts[stmt];
    vyre_text_fill(e->out, ' ', (size_t)4 * e->indent);
    vyre_text_printf(e->out, "vy_trap(vy, vy_lane, %s, %uu, ",
                     emit_expr_text(e, s->arg[0], EMIT_LOOSE), (unsigned)place.line);
    emit_quoted(e->out, s->text);
    vyre_text_printf(e->out, "); // line %u\n", (unsigned)place.line);
    emit_line(e, "%s", e->dialect->end_lane);
}

void emit_statement(emit_program *e, vyre_stmt stmt) {
    const vyre_stmt_node *s = &e->p->stmts[stmt];
    const vyre_place place = vyre_program_stmt_place(e->program, stmt);
    emit_exprs(e, s->first_expr, s->end_expr);
    switch ((vyre_stmt_op)s->op) {
    case VYRE_STMT_LET:
        emit_line_of(e, place, "%s%s = %s;", declared(e, s->var), e->vars[s->var],
                     emit_expr_text(e, s->arg[0], EMIT_LOOSE));
        break;
    case VYRE_STMT_ASSIGN:
        emit_line_of(e, place, "%s = %s;", e->vars[s->var],
                     emit_expr_text(e, s->arg[0], EMIT_LOOSE));
        break;
    case VYRE_STMT_STORE: store(e, stmt, place); break;
    case VYRE_STMT_ATOMIC: atomic(e, stmt, place); break;
    case VYRE_STMT_IF:
    case VYRE_STMT_WHILE:
    case VYRE_STMT_BLOCK:
    case VYRE_STMT_REGION: open_scope(e, stmt, place); break;
    case VYRE_STMT_FOR: open_for(e, stmt, place); break;
    case VYRE_STMT_ELSE:
        e->indent--;
        emit_line(e, "} else {");
        e->indent++;
        break;
    case VYRE_STMT_END:
        e->indent--;
        emit_line(e, "}");
        break;
    case VYRE_STMT_BREAK: emit_line_of(e, place, "break;"); break;
    case VYRE_STMT_CONTINUE: emit_line_of(e, place, "continue;"); break;
    case VYRE_STMT_EXIT: emit_line_of(e, place, "%s", e->dialect->end_lane); break;
    case VYRE_STMT_TRAP: trap(e, stmt, place); break;
    case VYRE_STMT_BARRIER: emit_line_of(e, place, "%s", e->dialect->barrier); break;
    case VYRE_STMT_GRID_SYNC: emit_line_of(e, place, "%s", e->dialect->grid_sync); break;
    case VYRE_STMT_SWAP: swap(e, stmt, place); break;
    case VYRE_STMT_INDIRECT_DISPATCH: /* whoever launches has read the grid */
    case VYRE_STMT_SUBGROUP:          /* lowered, cut or inlined */
    case VYRE_STMT_GROUP:
    case VYRE_STMT_GRID:
    case VYRE_STMT_PART:
    case VYRE_STMT_COMBINE:
    case VYRE_STMT_BASE:
    case VYRE_STMT_CALL:
    case VYRE_STMT_RETURN:
    case VYRE_STMT_ASYNC_LOAD:
    case VYRE_STMT_ASYNC_STORE:
    case VYRE_STMT_ASYNC_WAIT:
    case VYRE_STMT_ALL_REDUCE:
    case VYRE_STMT_ALL_GATHER:
    case VYRE_STMT_REDUCE_SCATTER:
    case VYRE_STMT_BROADCAST:
    case VYRE_STMT_COUNT: break;
    }
}

void emit_body(emit_program *e) {
    for (vyre_stmt s = e->p->entry; s < e->p->stmt_count && !e->failed; s++) {
        if (s >= e->skip_until) {
            emit_statement(e, s);
        }
    }
}

static bool is_used_const(const vyre_program_view *p, vyre_decl decl) {
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        for (vyre_expr k = p->stmts[s].first_expr; k < p->stmts[s].end_expr; k++) {
            if (p->exprs[k].op == VYRE_EXPR_REF && p->exprs[k].ref == decl) {
                return true;
            }
        }
    }
    return false;
}

void emit_locals(emit_program *e) {
    for (vyre_decl i = 0; i < e->p->decl_count; i++) {
        const vyre_decl_node *d = &e->p->decls[i];
        uint64_t bits;
        vyre_arena_reset(&e->texts);
        if (d->role == VYRE_CONST && is_used_const(e->p, i) && vyre_fold_const(e->p, i, &bits)) {
            emit_line(e, "const %s %s = %s;", emit_value_type((vyre_type)d->type), e->decls[i],
                      emit_literal(e, (vyre_type)d->type, bits));
        } else if (d->role == VYRE_PRIVATE && emit_constant_count(e->p, i, &bits)) {
            emit_line(e, "%s %s[%llu] = {0};", emit_element_type((vyre_type)d->type), e->decls[i],
                      (unsigned long long)(bits ? bits : 1));
        }
    }
}
