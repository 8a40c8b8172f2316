/* Which variables are assigned in which loop, for all bodies of the program. A variable is listed
 * for each loop between its binding and the assignment. Once an assignment is listed for a loop it
 * is listed for the loops around it too, so each climb stops at the first loop already met: linear
 * in the pairs. They are counted in a first scan and stored in a second. */
#include <string.h>

#include "analysis/assigned.h"

typedef struct scan {
    const vyre_program_view *p;
    const vyre_allocator *a;
    vyre_assigned *out;
    VYRE_VEC(vyre_stmt) loops; /* open */
    uint32_t *binding;         /* per variable: loops open at its binding */
    vyre_stmt *listed;         /* per variable: innermost loop listed last, or VYRE_NONE */
    uint32_t *next;            /* per loop statement: where its next variable goes; NULL: count */
} scan;

static void climb(scan *c, vyre_var var) {
    const vyre_program_view *p = c->p;
    if (!c->loops.data || c->loops.count <= c->binding[var]) {
        return;
    }
    for (uint32_t i = c->loops.count; i-- > c->binding[var];) {
        const vyre_stmt loop = c->loops.data[i];
        const vyre_stmt last = c->listed[var];
        if (last != VYRE_NONE && last >= loop && last < p->stmts[loop].match) {
            break;
        }
        if (c->next) {
            c->out->vars[c->next[loop]++] = var;
        } else {
            c->out->first[loop + 1]++;
        }
    }
    c->listed[var] = c->loops.data[c->loops.count - 1];
}

static bool scan_assignments(scan *c) {
    const vyre_program_view *p = c->p;
    for (vyre_var var = 0; var < p->var_count; var++) {
        c->listed[var] = VYRE_NONE;
        c->binding[var] = 0;
    }
    for (vyre_stmt at = 0; at < p->stmt_count; at++) {
        const vyre_stmt_node *stmt = &p->stmts[at];
        if (stmt->op == VYRE_STMT_ASSIGN) {
            climb(c, stmt->var);
        } else if (stmt->op == VYRE_STMT_FOR || stmt->op == VYRE_STMT_WHILE) {
            if (!vyre_vec_push(c->a, &c->loops, at)) {
                return false;
            }
        } else if (stmt->op == VYRE_STMT_END && c->loops.count != 0 &&
                   c->loops.data[c->loops.count - 1] == stmt->match) {
            c->loops.count--;
        }
        if (stmt->var != VYRE_NONE && stmt->op != VYRE_STMT_ASSIGN) {
            c->binding[stmt->var] = c->loops.count;
        }
    }
    return true;
}

bool vyre_assigned_find(const vyre_program_view *p, const vyre_allocator *a, vyre_assigned *out) {
    const size_t stmts = p->stmt_count, vars = p->var_count;
    scan c = {.p = p, .a = a, .out = out};
    c.binding = vyre_alloc(a, vars, sizeof *c.binding);
    c.listed = vyre_alloc(a, vars, sizeof *c.listed);
    out->first = vyre_alloc_zeroed(a, stmts + 1, sizeof *out->first);
    bool ok = c.binding && c.listed && out->first && scan_assignments(&c);
    if (ok) {
        for (size_t at = 0; at < stmts; at++) {
            out->first[at + 1] += out->first[at];
        }
        out->count = out->first[stmts];
        out->vars = vyre_alloc(a, out->count, sizeof *out->vars);
        c.next = vyre_alloc(a, stmts + 1, sizeof *c.next);
        ok = out->vars && c.next;
    }
    if (ok) {
        memcpy(c.next, out->first, (stmts + 1) * sizeof *c.next);
        c.loops.count = 0;
        ok = scan_assignments(&c);
    }
    vyre_vec_free(a, &c.loops);
    vyre_free(a, c.binding, vars, sizeof *c.binding);
    vyre_free(a, c.listed, vars, sizeof *c.listed);
    vyre_free(a, c.next, stmts + 1, sizeof *c.next);
    return ok;
}

void vyre_assigned_free(const vyre_program_view *p, const vyre_allocator *a,
                        vyre_assigned *assigned) {
    vyre_free(a, assigned->vars, assigned->count, sizeof *assigned->vars);
    vyre_free(a, assigned->first, (size_t)p->stmt_count + 1, sizeof *assigned->first);
}
