/* The lanes of a group as loops, for dialects in which one thread runs a group.
 *
 * What is the same for all lanes stands before the loops: variables that depend on no lane and load
 * only what the program does not write, and the test by which a group ends as a whole before it has
 * done anything. For all else there is one loop, unless the dialect wants it faster than readable:
 *
 * A statement of the body that concerns only some lanes along an axis (`if (global_id.x < n)`,
 * `for (i in global_id.x .. n step ...)`) gets loops of its own, over these lanes alone: groups
 * that have nothing to do cost next to nothing, and the loop holds no test. Lanes that wait for
 * nobody may run in any order, so the loop over the whole body may be cut between its statements;
 * variables that both sides use are computed again. The body stays in one piece if statements hand
 * on more than that: assigned variables, results of atomics, private memory, lanes that end.
 *
 * An index that grows by a constant from lane to lane along x stays inside memory if the first
 * lane's and the last lane's do. This is tested once for all lanes of a row, and two loops follow:
 * one without tests of these accesses, one with. Indices are computed modulo 2^32: if the first
 * one's and what it grows by, added up in 64 bits, are inside, none has wrapped. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "emit/lanes.h"

static const char *const axes = "xyz";
enum { MOST_FACTOR = 64 };

/* ---- looking at the body ---- */

vyre_stmt lanes_last_of(const lanes *l, vyre_stmt s) {
    const vyre_stmt_node *n = &l->p->stmts[s];
    const bool opens = n->op == VYRE_STMT_IF || n->op == VYRE_STMT_BLOCK ||
                       n->op == VYRE_STMT_REGION || lanes_opens_loop(n->op);
    const vyre_stmt end = opens ? n->match : s;
    return l->p->stmts[end].op == VYRE_STMT_ELSE ? l->p->stmts[end].match : end;
}

bool lanes_is_common_end(const lanes *l, vyre_stmt s) {
    const vyre_stmt_node *n = &l->p->stmts[s];
    return n->op == VYRE_STMT_IF && lanes_last_of(l, s) == s + 2 &&
           l->p->stmts[s + 1].op == VYRE_STMT_EXIT && lanes_kind(l, n->arg[0]) == COMMON;
}

static void look_at_writes(lanes *l) {
    vyre_stmt loop_end = 0, next = l->p->entry;
    for (vyre_stmt s = l->p->entry; s < l->p->stmt_count; s++) {
        const vyre_stmt_node *n = &l->p->stmts[s];
        l->parts[s] = VYRE_NONE;
        l->ways[s] = INSIDE;
        l->is_outer[s] = s == next;
        next = s == next ? lanes_last_of(l, s) + 1 : next;
        l->in_loop[s] = s < loop_end;
        loop_end = lanes_opens_loop(n->op) && s >= loop_end ? lanes_last_of(l, s) : loop_end;
        if (n->op == VYRE_STMT_STORE || n->op == VYRE_STMT_ATOMIC) {
            l->written[n->decl] = true;
        }
    }
}

/* Variables of one value. Those bound in a loop have many. */
static void look_at_variables(lanes *l) {
    for (vyre_var v = 0; v < l->p->var_count; v++) {
        l->values[v] = VYRE_NONE;
        l->kinds[v] = KEPT;
        l->in_rows[v] = false;
    }
    for (vyre_stmt s = l->p->entry; s < l->p->stmt_count; s++) {
        const vyre_stmt_node *n = &l->p->stmts[s];
        if (n->op == VYRE_STMT_LET && !l->in_loop[s]) {
            l->values[n->var] = n->arg[0];
        }
    }
    for (vyre_stmt s = l->p->entry; s < l->p->stmt_count; s++) {
        const vyre_stmt_node *n = &l->p->stmts[s];
        if (n->op == VYRE_STMT_ASSIGN) {
            l->assigned[n->var] = true;
            l->values[n->var] = VYRE_NONE;
        }
    }
    for (vyre_stmt s = l->p->entry; s < l->p->stmt_count; s++) {
        const vyre_stmt_node *n = &l->p->stmts[s];
        if (n->op == VYRE_STMT_LET && l->values[n->var] != VYRE_NONE) {
            l->kinds[n->var] = (uint8_t)lanes_kind_of(l, n->first_expr, n->end_expr);
        }
    }
}

bool lanes_is_again(const lanes *l, vyre_stmt s) {
    return l->p->stmts[s].op == VYRE_STMT_LET && l->kinds[l->p->stmts[s].var] != KEPT;
}

static void look(lanes *l) {
    l->part = VYRE_NONE;
    look_at_writes(l);
    look_at_variables(l);
}

void lanes_with_tests(lanes *l, bool on) {
    l->e->proven = on ? l->none : l->proven;
}

/* Before the loops: what all lanes share. Gives the first statement that does something. */
static vyre_stmt put_common(lanes *l) {
    emit_program *e = l->e;
    vyre_stmt begin = l->p->stmt_count;
    for (vyre_stmt s = l->p->entry; s < l->p->stmt_count; s = lanes_last_of(l, s) + 1) {
        const vyre_stmt_node *n = &l->p->stmts[s];
        const bool is_early = begin == l->p->stmt_count;
        if (n->op == VYRE_STMT_LET && l->kinds[n->var] == COMMON) {
            lanes_with_tests(l, !is_early); /* something in front of it may keep an index inside */
            emit_statement(e, s);
            lanes_with_tests(l, false);
        } else if (is_early && lanes_is_common_end(l, s)) {
            emit_exprs(e, n->first_expr, n->end_expr);
            emit_line_of(e, vyre_program_stmt_place(e->program, s), "if (%s) return;",
                         emit_condition(e, n->arg[0]));
        } else if (is_early && !lanes_is_again(l, s)) {
            begin = s;
        }
    }
    return begin;
}

/* Whether the statement is done before the loops. */
static bool is_common(const lanes *l, vyre_stmt begin, vyre_stmt s) {
    const vyre_stmt_node *n = &l->p->stmts[s];
    return n->op == VYRE_STMT_LET ? l->kinds[n->var] == COMMON
                                  : s < begin && lanes_is_common_end(l, s);
}

const char *lanes_text(lanes *l, const char *format, ...) {
    char text[VYRE_LIMIT_NAME + 32];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const uint32_t number = vyre_intern_add(&l->e->names.used, text, strlen(text));
    l->e->failed |= number == VYRE_INTERN_NONE;
    return number == VYRE_INTERN_NONE ? "" : vyre_intern_text(&l->e->names.used, number);
}

void lanes_all(lanes *l) {
    for (uint32_t axis = 0; axis < 3; axis++) {
        l->from[axis] = "0";
        l->to[axis] = lanes_text(l, "%uu", (unsigned)l->p->workgroup[axis]);
    }
}

/* Whether no limit has been found for the last lane yet. */
static bool is_all_of(lanes *l, uint32_t axis) {
    return l->to[axis] == lanes_text(l, "%uu", (unsigned)l->p->workgroup[axis]);
}

/* One end of the lanes along an axis, if it is a number. */
static bool is_number(lanes *l, const limit *one) {
    const vyre_expr_node *n = &l->p->exprs[one->bound];
    const uint64_t lanes_there = l->p->workgroup[one->axis];
    if (!one->is_local || n->op != VYRE_EXPR_LITERAL || n->u.bits >= lanes_there ||
        (!one->is_first && !is_all_of(l, one->axis))) {
        return false;
    }
    const unsigned end = (unsigned)(n->u.bits + one->is_with);
    if (one->is_first) {
        l->from[one->axis] = end ? lanes_text(l, "%uu", end) : "0";
    } else {
        l->to[one->axis] = lanes_text(l, "%uu", end);
    }
    return true;
}

/* One end of the lanes along an axis, which is a variable then. */
static void put_limit(lanes *l, vyre_stmt s, const limit *one, const char *suffix) {
    emit_program *e = l->e;
    const char axis = axes[one->axis];
    const char **end = one->is_first ? &l->from[one->axis] : &l->to[one->axis];
    const char *name = lanes_text(l, "vy_%s_%c%s", one->is_first ? "from" : "to", axis, suffix);
    const char *base = one->is_local ? "0u"
                                     : emit_format(e, "vy->group_%c * %uu", axis,
                                                   (unsigned)l->p->workgroup[one->axis]);
    emit_use(e->used, one->is_with ? EMIT_LANES_UP_TO : EMIT_LANES_BELOW, EMIT_PRIVATE, VYRE_U32);
    emit_line_of(e, vyre_program_stmt_place(e->program, s), "%s%s = vy_%s(%s, %s, %s);",
                 *end == name ? "" : "uint32_t ", name,
                 one->is_with ? "lanes_up_to" : "lanes_below", base, l->to[one->axis],
                 emit_expr_text(e, one->bound, EMIT_TERNARY));
    *end = name;
}

void lanes_put_limits(lanes *l, vyre_stmt s, const limits *found, const char *suffix) {
    const vyre_stmt_node *n = &l->p->stmts[s];
    lanes_with_tests(l, true);
    emit_exprs(l->e, n->first_expr, n->end_expr);
    lanes_with_tests(l, false);
    for (int first = 0; first < 2; first++) { /* the last lane, then the first one */
        for (uint32_t i = 0; i < found->count; i++) {
            const limit *one = &found->of[i];
            if (one->is_first == first && !is_number(l, one)) {
                put_limit(l, s, one, suffix);
            }
        }
    }
}

/* ---- pieces ---- */

static void need(lanes *l, vyre_expr first, vyre_expr end) {
    for (vyre_expr i = first; i < end; i++) {
        if (l->p->exprs[i].op == VYRE_EXPR_VAR) {
            l->needed[l->p->exprs[i].ref] = true;
        }
    }
}

void lanes_look_at_needs(lanes *l, const piece *one) {
    for (vyre_var v = 0; v < l->p->var_count; v++) {
        l->needed[v] = false;
    }
    for (vyre_stmt s = one->end; s-- > l->p->entry;) {
        const vyre_stmt_node *n = &l->p->stmts[s];
        if (s >= one->first || (lanes_is_again(l, s) && l->needed[n->var])) {
            need(l, n->first_expr, n->end_expr);
        }
    }
}

/* Whether a piece, or what it needs, asks for the number of a lane in the grid. */
static bool asks_for_id(const lanes *l, const piece *one, uint32_t axis) {
    for (vyre_stmt s = l->p->entry; s < one->end; s++) {
        const vyre_stmt_node *n = &l->p->stmts[s];
        const bool is_there = s >= one->first || (lanes_is_again(l, s) && l->needed[n->var]);
        for (vyre_expr i = n->first_expr; is_there && i < n->end_expr; i++) {
            const vyre_expr_node *x = &l->p->exprs[i];
            if (lanes_is_id(l, x, axis) && x->sub == VYRE_BUILTIN_GLOBAL_ID) {
                return true;
            }
        }
    }
    return false;
}

void lanes_put_ids(lanes *l, const piece *one, bool is_first) {
    const uint32_t *size = l->p->workgroup;
    for (uint32_t axis = 0; axis < 3; axis++) {
        if (asks_for_id(l, one, axis)) {
            emit_line(l->e, "const uint32_t global_%c = vy->group_%c * %uu + local_%c;", axes[axis],
                      axes[axis], (unsigned)size[axis], axes[axis]);
        }
    }
    if (!is_first && l->p->stats.stmt_kinds >> VYRE_STMT_TRAP & 1) {
        emit_line(
            l->e,
            "const uint64_t vy_lane = vy_number(vy) * %uu + ((uint64_t)%s * %uu + %s) * %uu + "
            "%s;",
            (unsigned)(size[0] * size[1] * size[2]), size[2] > 1 ? "local_z" : "0u",
            (unsigned)size[1], size[1] > 1 ? "local_y" : "0u", (unsigned)size[0],
            size[0] > 1 ? "local_x" : "0u");
    }
}

static void put_body(lanes *l, const piece *one) {
    emit_program *e = l->e;
    emit_locals(e);
    for (vyre_stmt s = l->p->entry; s < one->end && !e->failed; s++) {
        const vyre_stmt_node *n = &l->p->stmts[s];
        if (l->is_outer[s] && is_common(l, one->begin, s)) {
            s = lanes_last_of(l, s);
        } else if (s == one->first && one->drops_test) {
            emit_line_of(e, vyre_program_stmt_place(e->program, s), "{");
            e->indent++;
        } else if (s >= one->first && lanes_put_loop_twice(l, s)) {
            s = n->match;
        } else if (s >= one->first ||
                   (l->is_outer[s] && lanes_is_again(l, s) && l->needed[n->var])) {
            emit_statement(e, s);
        }
    }
}

/* Whether a lane may end in it. */
static bool has_end(const lanes *l, const piece *one) {
    for (vyre_stmt s = one->first; s < one->end; s++) {
        const uint8_t op = l->p->stmts[s].op;
        if (op == VYRE_STMT_EXIT || op == VYRE_STMT_TRAP) {
            return true;
        }
    }
    return false;
}

static void put_row(lanes *l, const piece *one) {
    emit_program *e = l->e;
    if (l->p->workgroup[0] > 1) {
        emit_line(e, "for (uint32_t local_x = %s; local_x < %s; local_x++) {", l->from[0],
                  l->to[0]);
    } else {
        emit_line(e, "{");
    }
    e->indent++;
    lanes_put_ids(l, one, false);
    put_body(l, one);
    if (has_end(l, one)) {
        emit_line(e, "vy_next:;");
    }
    e->indent--;
    emit_line(e, "}");
}

/* ---- tests for a row ---- */

/* Whether the access is to be asked for, and how its index grows. */
static bool is_regular(const lanes *l, const piece *one, vyre_stmt s, size_t access,
                       vyre_expr index, uint32_t *out_factor) {
    const vyre_stmt_node *n = &l->p->stmts[s];
    const bool runs =
        s >= one->first || (l->is_outer[s] && lanes_is_again(l, s) && l->needed[n->var]);
    return runs && !l->proven[access] && !(l->is_outer[s] && is_common(l, one->begin, s)) &&
           lanes_factor(l, index, 16, out_factor) && *out_factor <= MOST_FACTOR;
}

static void put_test(lanes *l, size_t access, vyre_decl decl, vyre_expr index, uint32_t factor) {
    emit_program *e = l->e;
    const char *many =
        l->from[0][0] == '0' ? l->to[0] : emit_format(e, "%s - %s", l->to[0], l->from[0]);
    if (factor == 0) {
        emit_line(e, "vy_inside &= %s < %s;", emit_expr_text(e, index, EMIT_SHIFT), e->lens[decl]);
    } else {
        emit_use(e->used, EMIT_ROW_INSIDE, EMIT_PRIVATE, VYRE_U32);
        emit_line(e, "vy_inside &= vy_row_inside(%s, %uu, %s, %s);",
                  emit_expr_text(e, index, EMIT_TERNARY), (unsigned)factor, many, e->lens[decl]);
    }
    l->tested[access] = true;
}

/* Asks for the regular accesses of a statement. */
static void put_tests(lanes *l, const piece *one, vyre_stmt s) {
    const vyre_stmt_node *n = &l->p->stmts[s];
    uint32_t factor;
    emit_exprs(l->e, n->first_expr, n->end_expr);
    for (vyre_expr i = n->first_expr; i < n->end_expr; i++) {
        const vyre_expr_node *x = &l->p->exprs[i];
        if (x->op == VYRE_EXPR_LOAD && is_regular(l, one, s, i, x->u.arg[0], &factor)) {
            put_test(l, i, x->ref, x->u.arg[0], factor);
        }
    }
    const size_t access = (size_t)l->p->expr_count + s;
    if ((n->op == VYRE_STMT_STORE || n->op == VYRE_STMT_ATOMIC) &&
        is_regular(l, one, s, access, n->arg[0], &factor)) {
        put_test(l, access, n->decl, n->arg[0], factor);
    }
}

static bool has_regular(const lanes *l, const piece *one) {
    uint32_t factor;
    for (vyre_stmt s = l->p->entry; s < one->end; s++) {
        const vyre_stmt_node *n = &l->p->stmts[s];
        for (vyre_expr i = n->first_expr; i < n->end_expr; i++) {
            if (l->p->exprs[i].op == VYRE_EXPR_LOAD &&
                is_regular(l, one, s, i, l->p->exprs[i].u.arg[0], &factor)) {
                return true;
            }
        }
        if ((n->op == VYRE_STMT_STORE || n->op == VYRE_STMT_ATOMIC) &&
            is_regular(l, one, s, (size_t)l->p->expr_count + s, n->arg[0], &factor)) {
            return true;
        }
    }
    return false;
}

void lanes_close(lanes *l, uint32_t indent) {
    while (l->e->indent > indent) {
        l->e->indent--;
        emit_line(l->e, "}");
    }
}

/* The row twice: without the tests that were made for all of it, and with them. */
static void put_row_twice(lanes *l, const piece *one) {
    emit_program *e = l->e;
    const uint32_t indent = e->indent;
    const size_t count = (size_t)l->p->expr_count + l->p->stmt_count;
    emit_line(e, "{");
    e->indent++;
    emit_line(e, "bool vy_inside = true;");
    emit_line(e, "{ // of all lanes, since indices grow from lane to lane");
    e->indent++;
    emit_line(e, "const uint32_t local_x = %s;", l->from[0]);
    lanes_put_ids(l, one, true);
    lanes_with_tests(l, true);
    for (vyre_stmt s = l->p->entry; s < one->end && !e->failed; s++) {
        const vyre_stmt_node *n = &l->p->stmts[s];
        put_tests(l, one, s);
        if (lanes_is_again(l, s) && !(l->is_outer[s] && l->kinds[n->var] == COMMON) &&
            l->needed[n->var]) {
            emit_statement(e, s);
        }
    }
    lanes_with_tests(l, false);
    e->indent--;
    emit_line(e, "}");
    emit_line(e, "if (vy_inside) {");
    e->indent++;
    for (size_t i = 0; i < count; i++) {
        l->proven[i] = l->proven[i] || l->tested[i];
    }
    put_row(l, one);
    for (size_t i = 0; i < count; i++) {
        l->proven[i] = l->proven[i] && !l->tested[i];
        l->tested[i] = false;
    }
    e->indent--;
    emit_line(e, "} else {");
    e->indent++;
    l->is_slow = true;
    put_row(l, one);
    l->is_slow = false;
    lanes_close(l, indent);
}

/* Without the tests of bounds that can be made once for all. */
void lanes_put_row(lanes *l, const piece *one) {
    lanes_look_at_needs(l, one);
    /* labels are there once in a function */
    if (l->e->dialect->tunes_lanes && l->p->workgroup[0] > 1 && !has_end(l, one) &&
        has_regular(l, one)) {
        put_row_twice(l, one);
    } else {
        put_row(l, one);
    }
}

/* Loops over the lanes along z and y. */
void lanes_open_rows(lanes *l) {
    for (uint32_t axis = 3; axis-- > 1;) {
        if (l->p->workgroup[axis] > 1) {
            emit_line(l->e, "for (uint32_t local_%c = %s; local_%c < %s; local_%c++) {", axes[axis],
                      l->from[axis], axes[axis], l->to[axis], axes[axis]);
            l->e->indent++;
        }
    }
}

static void put_piece(lanes *l, const piece *one) {
    emit_program *e = l->e;
    const uint32_t indent = e->indent;
    lanes_all(l);
    if (one->only.count > 0) {
        emit_line(e, "{");
        e->indent++;
        lanes_put_limits(l, one->first, &one->only, "");
    }
    lanes_open_rows(l);
    lanes_put_row(l, one);
    lanes_close(l, indent);
}

/* ---- all lanes ---- */

/* Whether a statement hands on to others more than variables that are computed again. */
static bool hands_on(const lanes *l, vyre_stmt s) {
    const vyre_stmt_node *n = &l->p->stmts[s];
    return (n->op == VYRE_STMT_LET && l->kinds[n->var] == KEPT) || n->op == VYRE_STMT_ASSIGN ||
           (n->op == VYRE_STMT_ATOMIC && n->var != VYRE_NONE);
}

/* Whether the body must stay in one piece; counts statements that do something. */
static bool is_whole(const lanes *l, vyre_stmt begin, uint32_t *out_count) {
    bool whole = false;
    *out_count = 0;
    for (vyre_decl d = 0; d < l->p->decl_count; d++) {
        whole |= l->p->decls[d].role == VYRE_PRIVATE;
    }
    for (vyre_stmt s = l->p->entry; s < l->p->stmt_count; s++) {
        const uint8_t op = l->p->stmts[s].op;
        whole |= s >= begin && (op == VYRE_STMT_EXIT || op == VYRE_STMT_TRAP);
        whole |= l->is_outer[s] && hands_on(l, s);
        *out_count += l->is_outer[s] && !is_common(l, begin, s) && !lanes_is_again(l, s);
    }
    return whole;
}

static void put_pieces(lanes *l) {
    const bool turned = lanes_find_turns(l);
    if (!turned) {
        look(l);
    }
    const vyre_stmt begin = put_common(l);
    if (turned) {
        lanes_put_turned(l, begin);
        return;
    }
    uint32_t count;
    const bool whole = (is_whole(l, begin, &count) && count > 1) || !l->e->dialect->tunes_lanes;
    vyre_stmt end;
    for (vyre_stmt s = begin; s < l->p->stmt_count; s = end) {
        piece one = {.first = s, .begin = begin};
        end = lanes_last_of(l, s) + 1;
        if (is_common(l, begin, s) || (!whole && lanes_is_again(l, s))) {
            continue;
        }
        one.only = whole ? (limits){0} : lanes_limits(l, s);
        one.drops_test = one.only.count > 0 && one.only.is_all;
        while (one.only.count == 0 && end < l->p->stmt_count &&
               (whole || lanes_limits(l, end).count == 0)) {
            end = lanes_last_of(l, end) + 1;
        }
        one.end = end;
        put_piece(l, &one);
    }
}

void emit_lanes(emit_program *e) {
    const vyre_program_view *p = e->p;
    const vyre_allocator *a = &e->a;
    const size_t accesses = (size_t)p->expr_count + p->stmt_count;
    lanes l = {.e = e,
               .p = p,
               .kinds = vyre_alloc_zeroed(a, p->var_count, sizeof *l.kinds),
               .values = vyre_alloc_zeroed(a, p->var_count, sizeof *l.values),
               .assigned = vyre_alloc_zeroed(a, p->var_count, sizeof *l.assigned),
               .in_rows = vyre_alloc_zeroed(a, p->var_count, sizeof *l.in_rows),
               .needed = vyre_alloc_zeroed(a, p->var_count, sizeof *l.needed),
               .written = vyre_alloc_zeroed(a, p->decl_count, sizeof *l.written),
               .in_loop = vyre_alloc_zeroed(a, p->stmt_count, sizeof *l.in_loop),
               .is_outer = vyre_alloc_zeroed(a, p->stmt_count, sizeof *l.is_outer),
               .ways = vyre_alloc_zeroed(a, p->stmt_count, sizeof *l.ways),
               .outside = vyre_alloc_zeroed(a, p->stmt_count, sizeof *l.outside),
               .arounds = vyre_alloc_zeroed(a, p->stmt_count, sizeof *l.arounds),
               .parts = vyre_alloc_zeroed(a, p->stmt_count, sizeof *l.parts),
               .part = VYRE_NONE,
               .rests = vyre_alloc_zeroed(a, p->expr_count, sizeof *l.rests),
               .tested = vyre_alloc_zeroed(a, accesses, sizeof *l.tested),
               .counted = vyre_alloc_zeroed(a, p->expr_count, sizeof *l.counted),
               .proven = e->proven,
               .none = vyre_alloc_zeroed(a, accesses, sizeof *l.none)};
    if (l.kinds && l.values && l.assigned && l.in_rows && l.needed && l.written && l.in_loop &&
        l.is_outer && l.ways && l.outside && l.arounds && l.parts && l.rests && l.tested &&
        l.counted && l.none) {
        e->indent = 1;
        e->in_rows = l.in_rows;
        e->rests = l.rests;
        look(&l);
        put_pieces(&l);
    } else {
        e->failed = true;
    }
    vyre_free(a, l.kinds, p->var_count, sizeof *l.kinds);
    vyre_free(a, l.values, p->var_count, sizeof *l.values);
    e->in_rows = NULL;
    e->rests = NULL;
    vyre_free(a, l.rests, p->expr_count, sizeof *l.rests);
    vyre_free(a, l.assigned, p->var_count, sizeof *l.assigned);
    vyre_free(a, l.in_rows, p->var_count, sizeof *l.in_rows);
    vyre_free(a, l.needed, p->var_count, sizeof *l.needed);
    vyre_free(a, l.written, p->decl_count, sizeof *l.written);
    vyre_free(a, l.in_loop, p->stmt_count, sizeof *l.in_loop);
    vyre_free(a, l.is_outer, p->stmt_count, sizeof *l.is_outer);
    vyre_free(a, l.ways, p->stmt_count, sizeof *l.ways);
    vyre_free(a, l.outside, p->stmt_count, sizeof *l.outside);
    vyre_free(a, l.arounds, p->stmt_count, sizeof *l.arounds);
    vyre_free(a, l.parts, p->stmt_count, sizeof *l.parts);
    vyre_free(a, l.tested, accesses, sizeof *l.tested);
    vyre_free(a, l.counted, p->expr_count, sizeof *l.counted);
    vyre_free(a, l.none, accesses, sizeof *l.none);
}
