/* Loops in loops over lanes whose counter is an index: `for (e in row[v] .. row[v + 1])` with loads
 * of `col[e]`. The counter stays below the end of the loop, so one test in front of it tells
 * whether all of these loads are inside, and the loop follows twice: without tests of them, and
 * with. Only loops without others in them are written so: text would double with each level. */
#include "emit/lanes.h"

/* Whether a load is at the counter of the loop, and not known to be inside. */
static bool is_counted(const lanes *l, vyre_stmt loop, vyre_expr i) {
    const vyre_expr_node *x = &l->p->exprs[i];
    return x->op == VYRE_EXPR_LOAD && !l->e->proven[i] &&
           l->p->exprs[x->u.arg[0]].op == VYRE_EXPR_VAR &&
           l->p->exprs[x->u.arg[0]].ref == l->p->stmts[loop].var;
}

/* Whether nothing inside of a loop is one. */
static bool is_innermost(const lanes *l, vyre_stmt loop) {
    vyre_stmt s = loop + 1;
    while (s < l->p->stmts[loop].match && !lanes_opens_loop(l->p->stmts[s].op)) {
        s++;
    }
    return s == l->p->stmts[loop].match;
}

/* What says that loads at the counter are inside, up to the end of the loop: marks them as counted;
 * NULL: there are none. */
static const char *inside_of_loop(lanes *l, vyre_stmt loop) {
    emit_program *e = l->e;
    const vyre_stmt_node *n = &l->p->stmts[loop];
    const char *all = NULL;
    vyre_decl last = VYRE_NONE;
    emit_exprs(e, n->first_expr, n->end_expr);
    const char *end = emit_expr_text(e, n->arg[1], EMIT_SHIFT);
    for (vyre_expr i = n->end_expr; i < l->p->stmts[n->match].first_expr; i++) {
        if (!is_counted(l, loop, i)) {
            continue;
        }
        const vyre_decl decl = l->p->exprs[i].ref;
        l->counted[i] = true;
        if (decl != last) {
            all = all ? emit_format(e, "%s && %s <= %s", all, end, e->lens[decl])
                      : emit_format(e, "%s <= %s", end, e->lens[decl]);
        }
        last = decl;
    }
    return all;
}

/* Loads that are counted need no test, or do again. */
static void trust(lanes *l, vyre_stmt loop, bool on) {
    for (vyre_expr i = l->p->stmts[loop].end_expr;
         i < l->p->stmts[l->p->stmts[loop].match].first_expr; i++) {
        if (l->counted[i]) {
            l->proven[i] = on;
            l->counted[i] = on;
        }
    }
}

static void put_statements(lanes *l, vyre_stmt first, vyre_stmt end) {
    for (vyre_stmt s = first; s < end; s++) {
        emit_statement(l->e, s);
    }
}

bool lanes_put_loop_twice(lanes *l, vyre_stmt loop) {
    emit_program *e = l->e;
    const vyre_stmt_node *n = &l->p->stmts[loop];
    if (!e->dialect->tunes_lanes || l->is_slow || n->op != VYRE_STMT_FOR ||
        !is_innermost(l, loop)) {
        return false;
    }
    const char *inside = inside_of_loop(l, loop);
    if (!inside) {
        return false;
    }
    emit_line(e, "if (%s) {", inside);
    e->indent++;
    trust(l, loop, true);
    put_statements(l, loop, n->match + 1);
    trust(l, loop, false);
    e->indent--;
    emit_line(e, "} else {");
    e->indent++;
    put_statements(l, loop, n->match + 1);
    e->indent--;
    emit_line(e, "}");
    return true;
}
