/* Which loops are scans, and why a walk gives the same.
 *
 * The group has n lanes, along x, of which none may end. A candidate is followed trip by trip, with
 * all that does not depend on memory or the lane as constants, once for the lanes from 2^t on and
 * once for those below: by comparisons with constants both know their way. Claimed is that in trip
 * t (0, 1, ...) a lane l leaves in the element l of one array
 *
 *     what was there, op what lane l - 2^t had there at the start of the trip     if l >= 2^t
 *     what was there                                                              else
 *
 * and does nothing else that can be seen; that is what following has to show. Then, by induction,
 * after trip t the element l has all from l - 2^(t+1) + 1 (or 0) to l combined, and if 2^(t+1) is n
 * or more behind the last trip, all up to l: the scan. `op` is associative and commutes, exactly:
 * integers only. Loads of the element of lane l - 2^t come before a barrier that comes before all
 * stores of the trip, and a barrier is between these and such loads of the next trip: they give
 * what was there at the start. Elements of the array are stored at the lane's number only.
 *
 * A lane below 2^t may combine with what changes nothing: the neutral element; or, if `op` of equal
 * values is that value, with the one that it had stored before the loop, for that is in its
 * element already.
 *
 * Variables from outside that the loop assigns are, at the end of each trip, constants or what is
 * in the lane's element: so they are known behind the loop, too. */
#include "opt/opt_scan.h"

#include <string.h>

#include "base/diag.h"
#include "ir/each.h"
#include "ir/program.h"
#include "opt/opt_scan_values.h"

enum { MOST_TRIPS = 16, MOST_STMTS = 40 };

static const scan_value nothing = {.kind = SCAN_UNKNOWN};

static bool is_same(scan_value x, scan_value y) {
    return x.kind == y.kind && x.bits == y.bits;
}

/* Before the loop */

static bool is_lane(const scan_finder *f, vyre_stmt s, vyre_expr e) {
    scan_value x[SCAN_MOST_EXPRS];
    const vyre_stmt_node *n = &f->p->stmts[s];
    if (!vyre_scan_evaluate(f, NULL, s, x, 0)) {
        return false;
    }
    const scan_value at = x[e - n->first_expr];
    return at.kind == SCAN_LANE && at.bits == 0;
}

static bool loads_some(const scan_finder *f, vyre_stmt s) {
    bool loads = false;
    for (vyre_expr i = f->p->stmts[s].first_expr; i < f->p->stmts[s].end_expr; i++) {
        loads |= f->p->exprs[i].op == VYRE_EXPR_LOAD;
    }
    return loads;
}

/* The variable that each lane has stored to its element right before the loop. */
static vyre_var find_first(const scan_finder *f) {
    for (vyre_stmt s = f->loop; s-- > f->p->entry;) {
        const vyre_stmt_node *n = &f->p->stmts[s];
        if (n->op == VYRE_STMT_STORE && n->decl == f->memory) {
            const vyre_expr_node *stored = &f->p->exprs[n->arg[1]];
            const bool fits = stored->op == VYRE_EXPR_VAR && is_lane(f, s, n->arg[0]) &&
                              vyre_scan_leads_to(f, s, f->loop, stored->ref);
            return fits ? stored->ref : VYRE_NONE;
        }
        if (n->op != VYRE_STMT_LET && n->op != VYRE_STMT_ASSIGN && n->op != VYRE_STMT_BARRIER &&
            n->op != VYRE_STMT_STORE) {
            break;
        }
    }
    return VYRE_NONE;
}

/* Whether a barrier comes right before the loop: nobody touches memory behind it. */
static bool is_behind_barrier(const scan_finder *f, vyre_stmt loop) {
    vyre_stmt s = loop;
    while (s-- > f->p->entry) {
        const vyre_stmt_node *n = &f->p->stmts[s];
        if ((n->op != VYRE_STMT_LET && n->op != VYRE_STMT_ASSIGN) || loads_some(f, s)) {
            return n->op == VYRE_STMT_BARRIER;
        }
    }
    return false;
}

/* Takes account of the variables of the loop, as they are when it begins. */
static bool find_vars(scan_finder *f) {
    const vyre_stmt_node *opener = &f->p->stmts[f->loop];
    f->var_count = 0;
    for (vyre_stmt s = f->loop; s < opener->match; s++) {
        const vyre_stmt_node *n = &f->p->stmts[s];
        const bool assigns = n->op == VYRE_STMT_ASSIGN;
        for (vyre_expr i = n->first_expr; i <= n->end_expr; i++) { /* the last: what it sets */
            const bool is_var = i < n->end_expr && f->p->exprs[i].op == VYRE_EXPR_VAR;
            const vyre_var var = is_var             ? f->p->exprs[i].ref
                                 : i == n->end_expr ? n->var
                                                    : VYRE_NONE;
            if (var == VYRE_NONE) {
                continue;
            }
            const scan_known *found = vyre_scan_find(f, var);
            if (!found && f->var_count == SCAN_MOST_VARS) {
                return false;
            }
            scan_known *is = found ? &f->vars[found - f->vars] : &f->vars[f->var_count++];
            if (!found) {
                *is = (scan_known){.var = var};
            }
            is->assigned |= assigns && i == n->end_expr && f->bound_at[var] < f->loop;
        }
    }
    f->first = find_first(f);
    for (uint32_t i = 0; i < f->var_count; i++) {
        scan_known *is = &f->vars[i];
        is->now = is->var != f->first ? vyre_scan_initial(f, is->var, 0)
                  : is->assigned      ? (scan_value){.kind = SCAN_MINE}
                                      : (scan_value){.kind = SCAN_FIRST};
    }
    return true;
}

/* A trip */

static void set(scan_finder *f, vyre_var var, scan_value v) {
    for (uint32_t i = 0; i < f->var_count; i++) {
        if (f->vars[i].var == var) {
            f->vars[i].now = v;
        }
    }
}

static void store(const scan_finder *f, scan_trip *t, const vyre_stmt_node *n,
                  const scan_value *x) {
    const scan_value at = x[n->arg[0] - n->first_expr], v = x[n->arg[1] - n->first_expr];
    t->failed |= n->decl != f->memory || at.kind != SCAN_LANE || at.bits != 0 ||
                 t->stored != VYRE_NONE || (v.kind != SCAN_MINE && v.kind != SCAN_BOTH);
    t->mine = v;
    t->stored = t->barriers;
}

/* Follows a class of lanes through the body. */
static void follow(scan_finder *f, scan_trip *t) {
    const vyre_stmt_node *opener = &f->p->stmts[f->loop];
    scan_value x[SCAN_MOST_EXPRS];
    for (vyre_stmt s = f->loop + 1; s < opener->match && !t->failed; s++) {
        const vyre_stmt_node *n = &f->p->stmts[s];
        if (!vyre_scan_evaluate(f, t, s, x, 0)) {
            t->failed = true;
            return;
        }
        const scan_value first = n->arg[0] == VYRE_NONE ? nothing : x[n->arg[0] - n->first_expr];
        switch ((int)n->op) {
        case VYRE_STMT_LET:
        case VYRE_STMT_ASSIGN: set(f, n->var, first); break;
        case VYRE_STMT_STORE: store(f, t, n, x); break;
        case VYRE_STMT_BARRIER: t->barriers++; break;
        case VYRE_STMT_IF:
            t->failed |= first.kind != SCAN_CONSTANT;
            s = first.bits ? s : n->match; /* into its ELSE, or behind it */
            break;
        case VYRE_STMT_ELSE: s = n->match; break;
        case VYRE_STMT_BLOCK:
        case VYRE_STMT_END: break;
        default: t->failed = true; break;
        }
    }
}

/* What variables from outside are for all lanes of the class, when the next trip begins. */
static void settle(scan_finder *f, const scan_trip *t) {
    for (uint32_t i = 0; i < f->var_count; i++) {
        scan_value *v = &f->vars[i].now;
        if (f->vars[i].assigned && vyre_scan_is_element(*v)) {
            *v = is_same(*v, t->mine) ? (scan_value){.kind = SCAN_MINE} : nothing;
        }
    }
}

/* Whether lanes of both classes do in the trip what is claimed. */
static bool is_step(scan_finder *f, uint32_t distance) {
    scan_known before[SCAN_MOST_VARS], above[SCAN_MOST_VARS];
    const scan_trip fresh = {.distance = distance,
                             .stored = VYRE_NONE,
                             .loaded = VYRE_NONE,
                             .first_loaded = VYRE_NONE,
                             .mine = {.kind = SCAN_MINE}};
    const bool any_above = distance < f->lanes;
    const uint32_t last = f->lanes - 1;
    scan_trip up = fresh, down = fresh;
    memcpy(before, f->vars, sizeof before);
    up.low = distance;
    up.high = last;
    if (any_above) {
        follow(f, &up);
        if (up.failed || up.mine.kind != SCAN_BOTH ||
            (f->op != VYRE_EXPR_COUNT && f->op != up.mine.op)) {
            return false;
        }
        f->op = (vyre_expr_op)up.mine.op;
        settle(f, &up);
    }
    memcpy(above, f->vars, sizeof above);
    memcpy(f->vars, before, sizeof before);
    down.high = any_above ? distance - 1 : last;
    follow(f, &down);
    settle(f, &down);
    if (down.failed || down.mine.kind != SCAN_MINE) {
        return false;
    }
    for (uint32_t i = 0; i < f->var_count && any_above; i++) {
        if (!is_same(f->vars[i].now, above[i].now)) {
            f->vars[i].now = nothing;
        }
    }
    if (!any_above) {
        return true; /* nobody loads what is another's any more */
    }
    const bool is_late = down.stored != VYRE_NONE && down.stored > up.stored;
    const bool was_open = f->is_open && up.first_loaded == 0;
    f->is_open = (is_late ? down.stored : up.stored) == up.barriers;
    const bool in_order = up.loaded < up.stored && up.loaded < down.stored;
    return up.barriers == down.barriers && in_order && !was_open;
}

/* The operands of the loop; false: they are not known. */
static bool operands_of(const scan_finder *f, uint64_t out[3]) {
    const vyre_stmt_node *n = &f->p->stmts[f->loop];
    scan_value x[SCAN_MOST_EXPRS];
    scan_trip all = {.high = f->lanes - 1, .stored = VYRE_NONE};
    bool is_known = vyre_scan_evaluate(f, &all, f->loop, x, 0);
    for (int k = 0; k < 3 && is_known; k++) {
        const scan_value v =
            n->arg[k] == VYRE_NONE ? vyre_scan_constant(1) : x[n->arg[k] - n->first_expr];
        is_known = v.kind == SCAN_CONSTANT;
        out[k] = v.bits;
    }
    return is_known;
}

/* Whether there is a trip of that number; of a FOR its variable is set. */
static bool begin_trip(scan_finder *f, uint32_t number, bool *out_failed) {
    const vyre_stmt_node *n = &f->p->stmts[f->loop];
    if (n->op == VYRE_STMT_WHILE || number == 0) {
        *out_failed = !operands_of(f, f->bounds);
    }
    if (n->op == VYRE_STMT_WHILE || *out_failed) {
        return !*out_failed && f->bounds[0] != 0;
    }
    const uint64_t at = f->bounds[0] + number * f->bounds[2];
    set(f, n->var, vyre_scan_constant(at));
    return f->bounds[2] != 0 && at < f->bounds[1];
}

static bool is_scan(scan_finder *f) {
    bool failed = false;
    uint32_t trips = 0;
    f->op = VYRE_EXPR_COUNT;
    f->is_open = false;
    if (!find_vars(f)) {
        return false;
    }
    while (trips <= MOST_TRIPS && begin_trip(f, trips, &failed)) {
        if (trips == MOST_TRIPS || !is_step(f, UINT32_C(1) << trips)) {
            return false;
        }
        trips++;
    }
    bool is_known = !failed && trips > 0 && UINT32_C(1) << trips >= f->lanes;
    for (uint32_t i = 0; i < f->var_count; i++) {
        is_known &= !f->vars[i].assigned || f->vars[i].now.kind == SCAN_CONSTANT ||
                    f->vars[i].now.kind == SCAN_MINE;
    }
    return is_known && f->op != VYRE_EXPR_COUNT;
}

/* Whether the loop may be one: it has a barrier, and stores to an array of integers that is large
 * enough. */
static bool is_candidate(scan_finder *f, vyre_stmt loop) {
    const vyre_stmt_node *opener = &f->p->stmts[loop];
    bool has_barrier = false;
    f->memory = VYRE_NONE;
    if ((opener->op != VYRE_STMT_WHILE && opener->op != VYRE_STMT_FOR) ||
        opener->match - loop > MOST_STMTS) {
        return false;
    }
    for (vyre_stmt s = loop + 1; s < opener->match; s++) {
        has_barrier |= f->p->stmts[s].op == VYRE_STMT_BARRIER;
        f->memory = f->p->stmts[s].op == VYRE_STMT_STORE ? f->p->stmts[s].decl : f->memory;
    }
    if (!has_barrier || f->memory == VYRE_NONE) {
        return false;
    }
    const vyre_decl_node *d = &f->p->decls[f->memory];
    const vyre_type type = (vyre_type)d->type;
    return d->role == VYRE_WORKGROUP && vyre_scan_count(f, f->memory) >= f->lanes &&
           (type == VYRE_U32 || type == VYRE_I32 || type == VYRE_U64 || type == VYRE_I64);
}

static bool find_scans(scan_finder *f) {
    for (vyre_var v = 0; v < f->p->var_count; v++) {
        f->bound_at[v] = VYRE_NONE;
    }
    for (vyre_stmt s = f->p->entry; s < f->p->stmt_count; s++) {
        const vyre_stmt_node *n = &f->p->stmts[s];
        if (n->op == VYRE_STMT_ASSIGN) {
            f->assigned[n->var] = true;
        } else if (n->var != VYRE_NONE) {
            f->bound_at[n->var] = s;
        }
    }
    for (vyre_stmt s = f->p->entry; s < f->p->stmt_count; s++) {
        f->loop = s;
        if (!is_candidate(f, s) || !is_scan(f)) {
            continue;
        }
        scan found = {.loop = s, .memory = f->memory, .op = f->op};
        for (uint32_t i = 0; i < f->var_count; i++) {
            if (f->vars[i].assigned) {
                found.last[found.count++] = f->vars[i];
            }
        }
        if (!vyre_vec_push(f->a, &f->scans, found)) {
            return false;
        }
        s = f->p->stmts[s].match;
    }
    return true;
}

/* Building */

static vyre_expr lane_of(vyre_builder *b) {
    return vyre_build_id(b, VYRE_BUILTIN_LOCAL_ID, 0);
}

static void build_walk(vyre_each *each, const scan_finder *f, const scan *s) {
    vyre_builder *b = each->rw.to;
    const vyre_type type = (vyre_type)f->p->decls[s->memory].type;
    const vyre_decl memory = each->rw.decls[s->memory];
    vyre_build_if(b, vyre_build_op(b, VYRE_EXPR_EQ, lane_of(b), vyre_build_u32(b, 0), VYRE_NONE));
    const vyre_var sum =
        vyre_build_let(b, vyre_each_name(each, "_sum"),
                       vyre_build_literal(b, type, vyre_scan_neutral(s->op, type)));
    const vyre_var k = vyre_build_for(b, vyre_each_name(each, "_k"), vyre_build_u32(b, 0),
                                      vyre_build_u32(b, f->lanes), VYRE_NONE);
    vyre_expr element = vyre_build_load(b, memory, vyre_build_var(b, k));
    vyre_build_assign(b, sum, vyre_build_op(b, s->op, vyre_build_var(b, sum), element, VYRE_NONE));
    vyre_build_store(b, memory, vyre_build_var(b, k), vyre_build_var(b, sum));
    vyre_build_end(b);
    vyre_build_end(b);
}

static bool replace(vyre_each *each, vyre_stmt stmt) {
    scan_finder *f = each->user;
    vyre_builder *b = each->rw.to;
    if (f->next < f->scans.count && stmt > f->p->stmts[f->scans.data[f->next].loop].match) {
        f->next++;
    }
    if (f->next == f->scans.count || stmt < f->scans.data[f->next].loop) {
        return false;
    }
    const scan *s = &f->scans.data[f->next];
    if (stmt > s->loop) {
        return true;
    }
    vyre_builder_at(b, vyre_program_stmt_place(each->rw.source, stmt));
    if (!is_behind_barrier(f, stmt)) {
        vyre_build_barrier(b, VYRE_SEQ_CST);
    }
    build_walk(each, f, s);
    vyre_build_barrier(b, VYRE_SEQ_CST);
    for (uint32_t i = 0; i < s->count; i++) {
        const scan_known *is = &s->last[i];
        const vyre_type type = (vyre_type)f->p->vars[is->var].type;
        vyre_build_assign(b, each->rw.vars[is->var],
                          is->now.kind == SCAN_CONSTANT
                              ? vyre_build_literal(b, type, is->now.bits)
                              : vyre_build_load(b, each->rw.decls[s->memory], lane_of(b)));
    }
    return true;
}

vyre_status vyre_opt_scan(const vyre_program *program, const vyre_allocator *a,
                          vyre_program **out_program, vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    const uint64_t ends = UINT64_C(1) << VYRE_STMT_EXIT | UINT64_C(1) << VYRE_STMT_TRAP;
    const bool may_have = p->workgroup[1] * p->workgroup[2] == 1 && p->workgroup[0] > 1 &&
                          !(p->stats.stmt_kinds & ends);
    scan_finder f = {.p = p, .a = a, .lanes = p->workgroup[0]};
    vyre_status status = VYRE_OK;
    f.bound_at = vyre_alloc(a, p->var_count, sizeof *f.bound_at);
    f.assigned = vyre_alloc_zeroed(a, p->var_count, sizeof *f.assigned);
    if (!f.bound_at || !f.assigned || (may_have && !find_scans(&f))) {
        status = vyre_fail_memory(diag, "finding scans");
    } else if (f.scans.count == 0) {
        *out_program = vyre_program_share(program);
    } else {
        status = vyre_each_rewrite(program, NULL, replace, &f, a, out_program, diag);
    }
    vyre_vec_free(a, &f.scans);
    vyre_free(a, f.assigned, p->var_count, sizeof *f.assigned);
    vyre_free(a, f.bound_at, p->var_count, sizeof *f.bound_at);
    return status;
}
