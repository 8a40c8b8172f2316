/* The survey: where lanes of a group meet, which ends of lanes matter to those that go on, and what
 * is known of variables. Shapes say where control is uniform. Cost: walks over the statements, one
 * for each level of nesting. */
#include "lower/converge.h"

#include <string.h>

#include "analysis/effects.h"
#include "analysis/shape.h"
#include "base/intern.h"
#include "ir/waits.h"
#include "lower/capabilities.h"
#include "lower/rewrites.h"

static bool is_sync(const vyre_converge *all, uint8_t op) {
    return vyre_waits_for(VYRE_SPLIT_SCOPE_WORKGROUP, op) ||
           (op == VYRE_STMT_SUBGROUP && all->lowers_subgroups);
}

/* Gives the marks of each statement to the constructs around it; they nest at most so deep. */
static void mark_around(vyre_converge *all) {
    const vyre_program_view *p = all->p;
    for (vyre_stmt s = p->stmt_count; s-- > p->entry;) {
        const vyre_stmt_node *n = &p->stmts[s];
        if (n->op != VYRE_STMT_END) {
            continue;
        }
        for (vyre_stmt k = n->match + 1; k < s; k++) {
            all->marks[n->match] |= all->marks[k];
        }
    }
}

static void mark_syncs(vyre_converge *all, const vyre_shapes *shapes) {
    const vyre_program_view *p = all->p;
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        uint8_t op = p->stmts[s].op;
        if (!is_sync(all, op)) {
            continue;
        }
        all->marks[s] |= VYRE_MARK_SYNC;
        if (op == VYRE_STMT_SUBGROUP ||
            (op == VYRE_STMT_GROUP && all->way == VYRE_GROUP_TOGETHER) ||
            !all->can->lanes_may_end) {
            all->marks[s] |= VYRE_MARK_COUNTS;
        }
        vyre_shape control = vyre_shapes_control(shapes, s - p->entry);
        if (op == VYRE_STMT_SUBGROUP && !vyre_shape_uniform(control, VYRE_SHAPE_GROUP)) {
            all->marks[s] |= VYRE_MARK_APART;
        }
    }
    mark_around(all);
}

/* Up to which statement all lanes of the group are there or none: the first to which only some may
 * come and which ends them, or meets there; or the outermost loop around it, or what is around it
 * and holds no barrier, for that becomes one run. */
static vyre_stmt together_until(const vyre_converge *all, const vyre_shapes *shapes) {
    const vyre_program_view *p = all->p;
    vyre_stmt around = VYRE_NONE;
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        bool opens = vyre_stmt_info_of((vyre_stmt_op)n->op)->scope == VYRE_SCOPE_OPEN;
        vyre_shape control = vyre_shapes_control(shapes, s - p->entry);
        if (around != VYRE_NONE && s > vyre_end_of(p, around)) {
            around = VYRE_NONE;
        }
        if (around == VYRE_NONE && opens &&
            (vyre_loops(n->op) || !(all->marks[s] & VYRE_MARK_SYNC))) {
            around = s;
        }
        if ((vyre_ends_lane(n->op) && !vyre_shape_uniform(control, VYRE_SHAPE_GROUP)) ||
            (all->marks[s] & VYRE_MARK_APART && !opens)) {
            return around == VYRE_NONE ? s : around;
        }
    }
    return p->stmt_count;
}

/* An end is early if something that counts lanes stands behind it, or in a loop around it, and not
 * the whole group ends there. */
static void mark_ways_out(vyre_converge *all, const vyre_shapes *shapes) {
    const vyre_program_view *p = all->p;
    vyre_stmt until = p->entry, together = together_until(all, shapes);
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        bool opens = vyre_stmt_info_of((vyre_stmt_op)p->stmts[s].op)->scope == VYRE_SCOPE_OPEN;
        until = all->marks[s] & VYRE_MARK_COUNTS && !opens ? s : until;
    }
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        /* Votes come at the head of a loop, and before an `else`. */
        bool arms = n->op == VYRE_STMT_IF && p->stmts[n->match].op == VYRE_STMT_ELSE;
        if ((vyre_loops(n->op) || arms) && all->marks[s] & VYRE_MARK_COUNTS && n->match > until) {
            until = n->match;
        }
        bool early = s >= together && s < until;
        all->marks[s] |= vyre_ends_lane(n->op) && early ? VYRE_MARK_ENDS : 0;
        all->marks[s] |=
            vyre_jumps(n->op) && all->marks[n->match] & VYRE_MARK_SYNC ? VYRE_MARK_JUMPS : 0;
    }
    mark_around(all);
}

static void note_vars(vyre_converge *all, const vyre_shapes *shapes, vyre_shape *room) {
    const vyre_program_view *p = all->p;
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        if (n->op == VYRE_STMT_LET) {
            vyre_shapes_exprs(shapes, s - p->entry, room);
            bool same = vyre_shape_uniform(room[n->arg[0] - n->first_expr], VYRE_SHAPE_GROUP);
            all->names[n->var] |= same ? VYRE_NAME_UNIFORM : 0;
        }
        for (vyre_expr e = n->first_expr; e < n->end_expr; e++) {
            if (p->exprs[e].op == VYRE_EXPR_VAR) {
                all->last_use[p->exprs[e].ref] = s;
            }
        }
        if (n->op == VYRE_STMT_ASSIGN) {
            all->last_use[n->var] = s;
            all->names[n->var] |= VYRE_NAME_ASSIGNED;
        }
    }
}

static uint32_t most_exprs(const vyre_program_view *p) {
    uint32_t most = 1;
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        uint32_t count = p->stmts[s].end_expr - p->stmts[s].first_expr;
        most = count > most ? count : most;
    }
    return most;
}

static vyre_status judge(vyre_converge *all) {
    vyre_shaped shaped;
    vyre_status status = vyre_shaped_init(&shaped, all->program, all->a);
    if (status != VYRE_OK) {
        return status;
    }
    uint32_t count = most_exprs(all->p);
    vyre_shape *room = vyre_alloc(all->a, count, sizeof *room);
    status = room ? VYRE_OK : VYRE_OUT_OF_MEMORY;
    if (room) {
        mark_syncs(all, shaped.shapes);
        mark_ways_out(all, shaped.shapes);
        note_vars(all, shaped.shapes, room);
    }
    vyre_free(all->a, room, count, sizeof *room);
    vyre_shaped_finish(&shaped);
    return status;
}

/* Names that several variables have: one of them may be declared where another is visible. */
static bool note_shared_names(vyre_converge *all) {
    vyre_intern names;
    vyre_intern_init(&names, all->a);
    uint32_t count = all->p->var_count;
    vyre_var *first = vyre_alloc(all->a, count, sizeof *first);
    bool ok = first != NULL;
    for (vyre_var v = 0; v < count && ok; v++) {
        const char *name = all->p->vars[v].name;
        uint32_t before = names.count;
        uint32_t number = vyre_intern_add(&names, name, strlen(name));
        ok = number != VYRE_INTERN_NONE;
        if (ok && names.count > before) {
            first[number] = v;
        } else if (ok) {
            all->names[v] |= VYRE_NAME_SHARED;
            all->names[first[number]] |= VYRE_NAME_SHARED;
        }
    }
    vyre_free(all->a, first, count, sizeof *first);
    vyre_intern_finish(&names);
    return ok;
}

bool vyre_lacks_subgroups(const vyre_program *program, const vyre_capabilities *can) {
    const vyre_program_view *p = vyre_program_get(program);
    for (vyre_stmt s = p->stats.uses_subgroups ? p->entry : p->stmt_count; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        if (n->op == VYRE_STMT_SUBGROUP &&
            (!vyre_can_stmt(can, n->op) || !vyre_can_subgroup(can, n->sub))) {
            return true;
        }
        for (vyre_expr e = n->first_expr; e < n->end_expr; e++) {
            const vyre_expr_node *x = &p->exprs[e];
            if (x->op == VYRE_EXPR_BUILTIN && !vyre_can_builtin(can, x->sub) &&
                (x->sub == VYRE_BUILTIN_SUBGROUP_SIZE ||
                 x->sub == VYRE_BUILTIN_SUBGROUP_LOCAL_ID)) {
                return true;
            }
        }
    }
    return false;
}

vyre_group_way vyre_group_way_of(const vyre_program *program, const vyre_capabilities *can) {
    const uint64_t kinds = vyre_program_get(program)->stats.stmt_kinds;
    const bool ends = kinds >> VYRE_STMT_EXIT & 1 || kinds >> VYRE_STMT_TRAP & 1;
    if (!(kinds >> VYRE_STMT_GROUP & 1)) {
        return VYRE_GROUP_KEPT;
    }
    /* Where subgroup operations are lowered no lane ends: the device would count those that did. */
    const bool stay = ends && vyre_lacks_subgroups(program, can);
    if (vyre_can_stmt(can, VYRE_STMT_GROUP) && can->lanes_may_end && !stay) {
        return VYRE_GROUP_KEPT;
    }
    return ends && can->lanes_may_end && vyre_can_stmt(can, VYRE_STMT_TRAP) &&
                   vyre_can_atomic(can, VYRE_ATOMIC_ADD, VYRE_U32, VYRE_WORKGROUP) && !stay
               ? VYRE_GROUP_BY_LEADER
               : VYRE_GROUP_TOGETHER;
}

vyre_status vyre_converge_survey(vyre_converge *c) {
    const vyre_program_view *p = c->p;
    c->marks = vyre_alloc_zeroed(c->a, p->stmt_count, sizeof *c->marks);
    c->last_use = vyre_alloc_zeroed(c->a, p->var_count, sizeof *c->last_use);
    c->names = vyre_alloc_zeroed(c->a, p->var_count, sizeof *c->names);
    if (!c->marks || !c->last_use || !c->names || !note_shared_names(c)) {
        return VYRE_OUT_OF_MEMORY;
    }
    return judge(c);
}

void vyre_converge_finish(vyre_converge *c) {
    vyre_free(c->a, c->marks, c->p->stmt_count, sizeof *c->marks);
    vyre_free(c->a, c->last_use, c->p->var_count, sizeof *c->last_use);
    vyre_free(c->a, c->names, c->p->var_count, sizeof *c->names);
}
