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
#include "emit/lanes.h"
#include "base/alloc.h"

static const char *const axes = "xyz";
enum { MOST_FACTOR = 64 };

/* ---- looking at the body ---- */

static bool opens_loop(uint32_t op) {
    return op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE;
}

static vyre_stmt last_of(const lanes *l, vyre_stmt s) {
    const vyre_stmt_node *n = &l->p->stmts[s];
    const bool opens = n->op == VYRE_STMT_IF || n->op == VYRE_STMT_BLOCK ||
                       n->op == VYRE_STMT_REGION || opens_loop(n->op);
    const vyre_stmt end = opens ? n->match : s;
    return l->p->stmts[end].op == VYRE_STMT_ELSE ? l->p->stmts[end].match : end;
}

/* A group ends as a whole, in front of all that has an effect. */
static bool is_common_end(const lanes *l, vyre_stmt s) {
    const vyre_stmt_node *n = &l->p->stmts[s];
    return n->op == VYRE_STMT_IF && last_of(l, s) == s + 2 &&
           l->p->stmts[s + 1].op == VYRE_STMT_EXIT && lanes_kind(l, n->arg[0]) == COMMON;
}

static void look_at_writes(lanes *l) {
    vyre_stmt loop_end = 0, next = l->p->entry;
    for (vyre_stmt s = l->p->entry; s < l->p->stmt_count; s++) {
        const vyre_stmt_node *n = &l->p->stmts[s];
        l->is_outer[s] = s == next;
        next = s == next ? last_of(l, s) + 1 : next;
        l->in_loop[s] = s < loop_end;
        loop_end = opens_loop(n->op) && s >= loop_end ? last_of(l, s) : loop_end;
        if (n->op == VYRE_STMT_STORE || n->op == VYRE_STMT_ATOMIC) {
            l->written[n->decl] = true;
        }
    }
}

/* Variables of one value. Those bound in a loop have many. */
static void look_at_variables(lanes *l) {
    for (vyre_var v = 0; v < l->p->var_count; v++) {
        l->values[v] = VYRE_NONE;
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

static bool is_again(const lanes *l, vyre_stmt s) {
    return l->p->stmts[s].op == VYRE_STMT_LET && l->kinds[l->p->stmts[s].var] != KEPT;
}

/* Whether loads are tested though they are proven: where they stand in another place than in the
 * program. */
static void with_tests(lanes *l, bool on) {
    l->e->proven = on ? l->none : l->proven;
}

/* Before the loops: what all lanes share. Gives the first statement that does something. */
static vyre_stmt put_common(lanes *l) {
    emit_program *e = l->e;
    vyre_stmt begin = l->p->stmt_count;
    for (vyre_stmt s = l->p->entry; s < l->p->stmt_count; s = last_of(l, s) + 1) {
        const vyre_stmt_node *n = &l->p->stmts[s];
        const bool is_early = begin == l->p->stmt_count;
        if (n->op == VYRE_STMT_LET && l->kinds[n->var] == COMMON) {
            with_tests(l, !is_early); /* something in front of it may keep an index inside */
            emit_statement(e, s);
            with_tests(l, false);
        } else if (is_early && is_common_end(l, s)) {
            emit_exprs(e, n->first_expr, n->end_expr);
            emit_line_of(e, vyre_program_stmt_place(e->program, s), "if (%s) return;",
                         emit_condition(e, n->arg[0]));
        } else if (is_early && !is_again(l, s)) {
            begin = s;
        }
    }
    return begin;
}

/* Whether the statement is done before the loops. */
static bool is_common(const lanes *l, vyre_stmt begin, vyre_stmt s) {
    const vyre_stmt_node *n = &l->p->stmts[s];
    return n->op == VYRE_STMT_LET ? l->kinds[n->var] == COMMON : s < begin && is_common_end(l, s);
}

/* From vy_from_x up to vy_to_x, for each axis that is limited. */
static void put_limits(lanes *l, vyre_stmt s, const limits *found) {
    emit_program *e = l->e;
    const vyre_stmt_node *n = &l->p->stmts[s];
    for (uint32_t axis = 0; axis < 3; axis++) {
        if (lanes_is_limited(found, axis)) {
            emit_line(e, "uint32_t vy_from_%c = 0, vy_to_%c = %uu;", axes[axis], axes[axis],
                      (unsigned)l->p->workgroup[axis]);
        }
    }
    with_tests(l, true);
    emit_exprs(e, n->first_expr, n->end_expr);
    with_tests(l, false);
    for (uint32_t i = 0; i < found->count; i++) {
        const limit *one = &found->of[i];
        const char axis = axes[one->axis];
        const char *base = one->is_local ? "0u"
                                         : emit_format(e, "vy->group_%c * %uu", axis,
                                                       (unsigned)l->p->workgroup[one->axis]);
        emit_use(e->used, one->is_with ? EMIT_LANES_UP_TO : EMIT_LANES_BELOW, EMIT_PRIVATE,
                 VYRE_U32);
        emit_line_of(e, vyre_program_stmt_place(e->program, s),
                     "vy_%s_%c = vy_%s(%s, vy_to_%c, %s);", one->is_first ? "from" : "to", axis,
                     one->is_with ? "lanes_up_to" : "lanes_below", base, axis,
                     emit_expr_text(e, one->bound, EMIT_TERNARY));
    }
}

/* ---- pieces ---- */

/* Statements [first, end) of the outermost level, which run in the same loops. */
typedef struct piece {
    vyre_stmt first, end, begin; /* behind `begin` nothing is common but variables */
    limits only;
    bool drops_test; /* its first statement is an `if` that the loops ask for */
} piece;

static void need(lanes *l, vyre_expr first, vyre_expr end) {
    for (vyre_expr i = first; i < end; i++) {
        if (l->p->exprs[i].op == VYRE_EXPR_VAR) {
            l->needed[l->p->exprs[i].ref] = true;
        }
    }
}

/* Variables that are computed again in front of a piece: all that it and they use. */
static void look_at_needs(lanes *l, const piece *one) {
    for (vyre_var v = 0; v < l->p->var_count; v++) {
        l->needed[v] = false;
    }
    for (vyre_stmt s = one->end; s-- > l->p->entry;) {
        const vyre_stmt_node *n = &l->p->stmts[s];
        if (s >= one->first || (n->op == VYRE_STMT_LET && l->needed[n->var])) {
            need(l, n->first_expr, n->end_expr);
        }
    }
}

static void put_ids(lanes *l, bool is_first) {
    const uint32_t *size = l->p->workgroup;
    for (uint32_t axis = 0; axis < 3; axis++) {
        for (vyre_expr i = 0; size[axis] > 1 && i < l->p->expr_count; i++) {
            const vyre_expr_node *n = &l->p->exprs[i];
            if (lanes_is_id(l, n, axis) && n->sub == VYRE_BUILTIN_GLOBAL_ID) {
                emit_line(l->e, "const uint32_t global_%c = vy->group_%c * %uu + local_%c;",
                          axes[axis], axes[axis], (unsigned)size[axis], axes[axis]);
                break;
            }
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
            s = last_of(l, s);
        } else if (s == one->first && one->drops_test) {
            emit_line_of(e, vyre_program_stmt_place(e->program, s), "{");
            e->indent++;
        } else if (s >= one->first || (l->is_outer[s] && is_again(l, s) && l->needed[n->var])) {
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
    const bool is_loop = l->p->workgroup[0] > 1;
    if (is_loop && lanes_is_limited(&one->only, 0)) {
        emit_line(e, "for (uint32_t local_x = vy_from_x; local_x < vy_to_x; local_x++) {");
    } else if (is_loop) {
        emit_line(e, "for (uint32_t local_x = 0; local_x < %uu; local_x++) {",
                  (unsigned)l->p->workgroup[0]);
    } else {
        emit_line(e, "{");
    }
    e->indent++;
    put_ids(l, false);
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
    const bool runs = s >= one->first || (l->is_outer[s] && is_again(l, s) && l->needed[n->var]);
    return runs && !l->proven[access] && !(l->is_outer[s] && is_common(l, one->begin, s)) &&
           lanes_factor(l, index, 16, out_factor) && *out_factor <= MOST_FACTOR;
}

static void put_test(lanes *l, const piece *one, size_t access, vyre_decl decl, vyre_expr index,
                     uint32_t factor) {
    emit_program *e = l->e;
    const char *many = lanes_is_limited(&one->only, 0)
                           ? "vy_to_x - vy_from_x"
                           : emit_format(e, "%uu", (unsigned)l->p->workgroup[0]);
    emit_use(e->used, EMIT_ROW_INSIDE, EMIT_PRIVATE, VYRE_U32);
    emit_line(e, "vy_inside &= vy_row_inside(%s, %uu, %s, %s);",
              emit_expr_text(e, index, EMIT_TERNARY), (unsigned)factor, many, e->lens[decl]);
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
            put_test(l, one, i, x->ref, x->u.arg[0], factor);
        }
    }
    const size_t access = (size_t)l->p->expr_count + s;
    if ((n->op == VYRE_STMT_STORE || n->op == VYRE_STMT_ATOMIC) &&
        is_regular(l, one, s, access, n->arg[0], &factor)) {
        put_test(l, one, access, n->decl, n->arg[0], factor);
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

/* The row twice: without the tests that were made for all of it, and with them. */
static void put_row_twice(lanes *l, const piece *one) {
    emit_program *e = l->e;
    const size_t count = (size_t)l->p->expr_count + l->p->stmt_count;
    emit_line(e, "bool vy_inside = true;");
    emit_line(e, "{ // of all lanes, since indices grow from lane to lane");
    e->indent++;
    emit_line(e, "const uint32_t local_x = %s;",
              lanes_is_limited(&one->only, 0) ? "vy_from_x" : "0");
    put_ids(l, true);
    with_tests(l, true);
    for (vyre_stmt s = l->p->entry; s < one->end && !e->failed; s++) {
        const vyre_stmt_node *n = &l->p->stmts[s];
        put_tests(l, one, s);
        if (is_again(l, s) && !(l->is_outer[s] && l->kinds[n->var] == COMMON) &&
            l->needed[n->var]) {
            emit_statement(e, s);
        }
    }
    with_tests(l, false);
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
    put_row(l, one);
    e->indent--;
    emit_line(e, "}");
}

static void put_piece(lanes *l, const piece *one) {
    emit_program *e = l->e;
    const uint32_t indent = e->indent;
    look_at_needs(l, one);
    if (one->only.count > 0) {
        emit_line(e, "{");
        e->indent++;
        put_limits(l, one->first, &one->only);
    }
    for (uint32_t axis = 3; axis-- > 1;) {
        if (l->p->workgroup[axis] > 1 && lanes_is_limited(&one->only, axis)) {
            emit_line(e, "for (uint32_t local_%c = vy_from_%c; local_%c < vy_to_%c; local_%c++) {",
                      axes[axis], axes[axis], axes[axis], axes[axis], axes[axis]);
            e->indent++;
        } else if (l->p->workgroup[axis] > 1) {
            emit_line(e, "for (uint32_t local_%c = 0; local_%c < %uu; local_%c++) {", axes[axis],
                      axes[axis], (unsigned)l->p->workgroup[axis], axes[axis]);
            e->indent++;
        }
    }
    /* labels are there once in a function */
    if (e->dialect->tunes_lanes && l->p->workgroup[0] > 1 && !has_end(l, one) &&
        has_regular(l, one)) {
        if (e->indent == 1) {
            emit_line(e, "{");
            e->indent++;
        }
        put_row_twice(l, one);
    } else {
        put_row(l, one);
    }
    while (e->indent > indent) {
        e->indent--;
        emit_line(e, "}");
    }
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
        *out_count += l->is_outer[s] && !is_common(l, begin, s) && !is_again(l, s);
    }
    return whole;
}

static void put_pieces(lanes *l) {
    const vyre_stmt begin = put_common(l);
    uint32_t count;
    const bool whole = (is_whole(l, begin, &count) && count > 1) || !l->e->dialect->tunes_lanes;
    vyre_stmt end;
    for (vyre_stmt s = begin; s < l->p->stmt_count; s = end) {
        piece one = {.first = s, .begin = begin};
        end = last_of(l, s) + 1;
        if (is_common(l, begin, s) || (!whole && is_again(l, s))) {
            continue;
        }
        one.only = whole ? (limits){0} : lanes_limits(l, s);
        one.drops_test = one.only.count > 0 && one.only.is_all;
        while (one.only.count == 0 && end < l->p->stmt_count &&
               (whole || lanes_limits(l, end).count == 0)) {
            end = last_of(l, end) + 1;
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
               .needed = vyre_alloc_zeroed(a, p->var_count, sizeof *l.needed),
               .written = vyre_alloc_zeroed(a, p->decl_count, sizeof *l.written),
               .in_loop = vyre_alloc_zeroed(a, p->stmt_count, sizeof *l.in_loop),
               .is_outer = vyre_alloc_zeroed(a, p->stmt_count, sizeof *l.is_outer),
               .tested = vyre_alloc_zeroed(a, accesses, sizeof *l.tested),
               .proven = e->proven,
               .none = vyre_alloc_zeroed(a, accesses, sizeof *l.none)};
    if (l.kinds && l.values && l.needed && l.written && l.in_loop && l.is_outer && l.tested &&
        l.none) {
        e->indent = 1;
        look_at_writes(&l);
        look_at_variables(&l);
        put_pieces(&l);
    } else {
        e->failed = true;
    }
    vyre_free(a, l.kinds, p->var_count, sizeof *l.kinds);
    vyre_free(a, l.values, p->var_count, sizeof *l.values);
    vyre_free(a, l.needed, p->var_count, sizeof *l.needed);
    vyre_free(a, l.written, p->decl_count, sizeof *l.written);
    vyre_free(a, l.in_loop, p->stmt_count, sizeof *l.in_loop);
    vyre_free(a, l.is_outer, p->stmt_count, sizeof *l.is_outer);
    vyre_free(a, l.tested, accesses, sizeof *l.tested);
    vyre_free(a, l.none, accesses, sizeof *l.none);
}
