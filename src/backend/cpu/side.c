/* Gangs side by side, and loops whose lanes begin apart and end together.
 *
 * A gang is one vector. A loop that adds up in one vector waits for each addition, and what several
 * gangs load alike is loaded by each of them. So where a segment has such a loop, several gangs run
 * its statements together: one that gives different values in them is emitted for each of them
 * (LLVM then sees which of their parts are the same), control that is the same for all once. Where
 * control is not the same, the whole of it is emitted for one gang after the other.
 *
 * A loop
 *     for (i in local_id.x + a .. b step c) { body }
 * has all lanes of a gang in all but its last trips. It is made twice: as long as the last lane of
 * all gangs is below the end, without masks; then with masks, from where that stopped. The first
 * one stops before any value would pass 2^32, so only the second one has code for that.
 *
 * Why that is right: lanes of a segment may run in any order, so also in turns. It costs the size
 * of the code: fewer gangs run side by side where more vectors are alive in the loop than registers
 * hold, and one only where there is much code. Nobody may leave such a loop from inside, or end
 * there. */
#include <stdio.h>
#include <string.h>

#include "backend/cpu/kernel.h"

/* What differs between gangs. */

/* Nodes of a statement, into e->unlike. */
static void find_unlike(const cpu_emit *e, const vyre_stmt_node *s) {
    for (vyre_expr i = s->first_expr; i < s->end_expr; i++) {
        const vyre_expr_node *n = &e->p->exprs[i];
        const uint32_t arity = vyre_expr_info_of((vyre_expr_op)n->op)->arity;
        bool differs = (n->op == VYRE_EXPR_VAR && e->differs[n->ref]) ||
                       (n->op == VYRE_EXPR_BUILTIN &&
                        (n->sub == VYRE_BUILTIN_LOCAL_ID || n->sub == VYRE_BUILTIN_GLOBAL_ID ||
                         n->sub == VYRE_BUILTIN_SUBGROUP_LOCAL_ID));
        for (uint32_t k = 0; k < arity; k++) {
            differs |= e->unlike[n->u.arg[k] - s->first_expr];
        }
        e->unlike[i - s->first_expr] = differs;
    }
}

static bool is_unlike(const cpu_emit *e, const vyre_stmt_node *s, uint32_t arg) {
    return s->arg[arg] != VYRE_NONE && e->unlike[s->arg[arg] - s->first_expr];
}

/* The last statement of an IF or a loop. */
static vyre_stmt end_of(const vyre_program_view *p, vyre_stmt stmt) {
    const vyre_stmt match = p->stmts[stmt].match;
    return p->stmts[match].op == VYRE_STMT_ELSE ? p->stmts[match].match : match;
}

static cpu_side side_of(const cpu_emit *e, const vyre_stmt_node *s) {
    switch ((int)s->op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_ASSIGN: return e->differs[s->var] ? CPU_SIDE_EACH : CPU_SIDE_ONCE;
    case VYRE_STMT_STORE:
        return is_unlike(e, s, 0) || is_unlike(e, s, 1) ? CPU_SIDE_EACH : CPU_SIDE_ONCE;
    case VYRE_STMT_ATOMIC: return CPU_SIDE_EACH;
    case VYRE_STMT_IF:
    case VYRE_STMT_WHILE: return is_unlike(e, s, 0) ? CPU_SIDE_EACH : CPU_SIDE_ONCE;
    case VYRE_STMT_FOR:
        return is_unlike(e, s, 1) || is_unlike(e, s, 2) ? CPU_SIDE_EACH
               : is_unlike(e, s, 0)                     ? CPU_SIDE_RANGE
                                                        : CPU_SIDE_ONCE;
    default: return CPU_SIDE_ONCE;
    }
}

/* One walk; true: something was found. */
static bool find_differences(cpu_emit *e) {
    vyre_stmt apart = e->p->entry; /* statements before this one are emitted gang by gang */
    bool found = false;
    for (vyre_stmt i = e->p->entry; i < e->p->stmt_count; i++) {
        const vyre_stmt_node *s = &e->p->stmts[i];
        find_unlike(e, s);
        bool differs = i < apart || s->op == VYRE_STMT_ATOMIC || is_unlike(e, s, 0);
        if (s->var != VYRE_NONE && differs && !e->differs[s->var]) {
            e->differs[s->var] = found = true;
        }
        e->side[i] = (uint8_t)side_of(e, s);
        const bool opens =
            s->op == VYRE_STMT_IF || s->op == VYRE_STMT_WHILE || s->op == VYRE_STMT_FOR;
        if (opens && e->side[i] != CPU_SIDE_ONCE && end_of(e->p, i) > apart) {
            apart = end_of(e->p, i);
        }
    }
    return found;
}

/* How many gangs. */

static bool can_run_together(const cpu_emit *e) {
    bool can = e->width > 1 && !e->masked_tail && !e->tiled;
    for (vyre_stmt i = e->p->entry; i < e->p->stmt_count && can; i++) {
        const uint8_t op = e->p->stmts[i].op;
        can = op == VYRE_STMT_LET || op == VYRE_STMT_ASSIGN || op == VYRE_STMT_STORE ||
              op == VYRE_STMT_ATOMIC || op == VYRE_STMT_IF || op == VYRE_STMT_ELSE ||
              op == VYRE_STMT_END || op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE ||
              op == VYRE_STMT_BLOCK || op == VYRE_STMT_REGION;
    }
    for (vyre_decl d = 0; d < e->p->decl_count && can; d++) {
        can = e->bindings[d].meaning != CPU_IS_PRIVATE;
    }
    return can;
}

enum { SHORT = 24, LONG = 80 }; /* nodes of a loop */

/* Notes a variable that is a vector and comes from outside of the loop. */
static uint32_t note_alive(const cpu_emit *e, vyre_stmt loop, vyre_var var, vyre_var *seen,
                           uint32_t count) {
    bool known = (e->is_single[var] ? e->bound[var].hold : e->holds[var]) != CPU_EACH;
    for (uint32_t i = 0; i < count; i++) {
        known |= seen[i] == var;
    }
    for (vyre_stmt i = loop + 1; i < e->p->stmts[loop].match && !known; i++) {
        known = e->p->stmts[i].var == var && e->p->stmts[i].op != VYRE_STMT_ASSIGN;
    }
    if (!known && count < LONG) {
        seen[count++] = var;
    }
    return count;
}

/* Vectors that a short loop keeps from trip to trip. */
static uint32_t vectors_alive(const cpu_emit *e, vyre_stmt loop) {
    vyre_var seen[LONG];
    uint32_t count = 0;
    for (vyre_stmt i = loop + 1; i < e->p->stmts[loop].match; i++) {
        const vyre_stmt_node *s = &e->p->stmts[i];
        if (s->op == VYRE_STMT_ASSIGN) {
            count = note_alive(e, loop, s->var, seen, count);
        }
        for (vyre_expr k = s->first_expr; k < s->end_expr; k++) {
            if (e->p->exprs[k].op == VYRE_EXPR_VAR) {
                count = note_alive(e, loop, e->p->exprs[k].ref, seen, count);
            }
        }
    }
    return count;
}

static bool has_loop(const cpu_emit *e, vyre_stmt loop) {
    bool found = false;
    for (vyre_stmt i = loop + 1; i < e->p->stmts[loop].match; i++) {
        found |= e->p->stmts[i].op == VYRE_STMT_FOR || e->p->stmts[i].op == VYRE_STMT_WHILE;
    }
    return found;
}

/* What one loop would like. */
static uint32_t gangs_for(const cpu_emit *e, vyre_stmt loop) {
    const vyre_stmt_node *s = &e->p->stmts[loop];
    const uint32_t nodes = e->p->stmts[s->match - 1].end_expr - s->first_expr;
    if (e->side[loop] == CPU_SIDE_EACH || nodes > LONG || has_loop(e, loop)) {
        return 1;
    }
    const uint32_t alive = vectors_alive(e, loop);
    if (alive > 4) {
        return 1;
    }
    if (e->side[loop] == CPU_SIDE_RANGE) {
        return nodes <= SHORT ? 8 : 4;
    }
    return alive == 0 ? 1 : alive == 1 ? 8 : alive == 2 ? 4 : 2;
}

uint32_t cpu_side_choose(cpu_emit *e) {
    const uint32_t *size = e->p->workgroup, lanes = size[0] * size[1] * size[2];
    uint32_t gangs = 0;
    memset(e->differs, 0, e->p->var_count);
    if (!can_run_together(e)) {
        return 1;
    }
    while (find_differences(e)) {
    }
    for (vyre_stmt i = e->p->entry; i < e->p->stmt_count; i++) {
        const uint8_t op = e->p->stmts[i].op;
        if (op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE) {
            const uint32_t wants = gangs_for(e, i);
            gangs = gangs == 0 || wants < gangs ? wants : gangs;
            i = e->p->stmts[i].match; /* what is inside was looked at */
        }
    }
    while (gangs > 1 && lanes % (gangs * e->width) != 0) {
        gangs /= 2;
    }
    return gangs == 0 ? 1 : gangs;
}

/* Emitting. */

void cpu_side_select(cpu_emit *e, uint32_t gang) {
    if (e->gangs > 1) {
        e->gang = gang;
        memcpy(e->ids, e->side_ids[gang], sizeof e->ids);
        e->lane = e->side_lane[gang];
    }
}

/* Statements [begin, end) for one gang after the other. */
static void emit_apart(cpu_emit *e, vyre_stmt begin, vyre_stmt end) {
    e->apart = true;
    for (uint32_t g = 0; g < e->gangs; g++) {
        cpu_side_select(e, g);
        cpu_emit_list(e, begin, end);
    }
    e->apart = false;
    cpu_side_select(e, 0);
}

/* Loops that begin at consecutive values. */

typedef struct range {
    cpu_value from[CPU_MOST_GANGS], to, step;
} range;

static bool stays_inside(const cpu_emit *e, vyre_stmt loop) {
    bool stays = true;
    for (vyre_stmt i = loop + 1; i < e->p->stmts[loop].match; i++) {
        const uint8_t op = e->p->stmts[i].op;
        stays &= op != VYRE_STMT_BREAK && op != VYRE_STMT_CONTINUE && op != VYRE_STMT_EXIT &&
                 op != VYRE_STMT_TRAP && op != VYRE_STMT_SUBGROUP;
    }
    return stays;
}

/* Begin, end and step, in all gangs that run together; false: another kind of loop. */
static bool evaluate(cpu_emit *e, vyre_stmt loop, range *out) {
    const vyre_stmt_node *n = &e->p->stmts[loop];
    *out = (range){.to = cpu_u32(0)};
    const uint32_t gangs = e->apart ? 1 : e->gangs;
    bool fits = true;
    for (uint32_t g = 0; g < gangs; g++) {
        if (gangs > 1) {
            cpu_side_select(e, g);
        }
        cpu_emit_exprs(e, n->first_expr, n->end_expr);
        out->from[g] = cpu_operand(e, n, 0);
        if (g == 0) {
            out->to = cpu_operand(e, n, 1);
            out->step = n->arg[2] == VYRE_NONE ? cpu_u32(1) : cpu_operand(e, n, 2);
        }
        fits &= out->from[g].hold == CPU_LINEAR && out->from[g].stride > 0;
    }
    return fits && out->to.hold == CPU_ONE && out->step.hold == CPU_ONE;
}

static cpu_value wide(cpu_emit *e, const cpu_value *v) {
    return cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i64", v->text);
}

/* Where the last lane of all gangs is: an i64 in %leadN. Gives the value that it must stay below,
 * so that it makes the trip, and no lane passes 2^32 behind it. A step of 0: no trips at all. */
static cpu_value begin_lead(cpu_emit *e, const range *r, uint32_t label) {
    const uint32_t gangs = e->apart ? 1 : e->gangs;
    cpu_value most = r->from[0];
    for (uint32_t g = 1; g < gangs; g++) {
        most = cpu_new(e, VYRE_U32, CPU_ONE, "call i32 @llvm.umax.i32(i32 %s, i32 %s)", most.text,
                       r->from[g].text);
    }
    cpu_value lead = cpu_new(e, VYRE_U64, CPU_ONE, "add i64 %s, %u", wide(e, &most).text,
                             (e->width - 1) * (uint32_t)r->from[0].stride);
    cpu_head(e, "  %%lead%u = alloca i64", label);
    cpu_line(e, "  store i64 %s, ptr %%lead%u", lead.text, label);
    cpu_value step = wide(e, &r->step), to = wide(e, &r->to);
    cpu_value room = cpu_new(e, VYRE_U64, CPU_ONE, "sub i64 4294967296, %s", step.text);
    to = cpu_new(e, VYRE_U64, CPU_ONE, "call i64 @llvm.umin.i64(i64 %s, i64 %s)", to.text,
                 room.text);
    if (r->step.known && r->step.bits != 0) {
        return to;
    }
    cpu_value stays = cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp eq i32 %s, 0", r->step.text);
    return cpu_new(e, VYRE_U64, CPU_ONE, "select i1 %s, i64 0, i64 %s", stays.text, to.text);
}

static void test_lead(cpu_emit *e, cpu_value limit, uint32_t label) {
    cpu_value lead = cpu_new(e, VYRE_U64, CPU_ONE, "load i64, ptr %%lead%u", label);
    cpu_value more = cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp ult i64 %s, %s", lead.text, limit.text);
    cpu_line(e, "  br i1 %s, label %%trip%u, label %%out%u", more.text, label, label);
}

/* Asks once for all trips for what the loop accesses (emit_loop.c), so that gangs have no branches
 * between them; where it is not inside, all trips are left to the loop with masks. %trip_ofN is how
 * far the loop's variable has moved. */
static bool begin_steady(cpu_emit *e, vyre_stmt loop, uint32_t label, cpu_value limit,
                         cpu_value *inside) {
    cpu_value lead = cpu_new(e, VYRE_U64, CPU_ONE, "load i64, ptr %%lead%u", label);
    cpu_value last = cpu_new(e, VYRE_U64, CPU_ONE, "add i64 %s, -1", limit.text);
    cpu_value room = cpu_new(e, VYRE_U64, CPU_ONE, "sub i64 %s, %s", last.text, lead.text);
    if (!cpu_ask_range(e, loop, label, room, inside)) {
        return false;
    }
    cpu_note(e, loop, "range",
             "bounds are tested once for all trips because lanes and trips are consecutive");
    cpu_head(e, "  %%trip_of%u = alloca i64", label);
    cpu_line(e, "  store i64 0, ptr %%trip_of%u", label);
    cpu_line(e, "  br i1 %s, label %%steady%u, label %%out%u, !prof !0", inside->text, label,
             label);
    cpu_line(e, "steady%u:", label);
    return true;
}

/* The loop as long as all lanes are in it. */
static void emit_full(cpu_emit *e, vyre_stmt loop, const range *r) {
    const vyre_var var = e->p->stmts[loop].var;
    const uint32_t gangs = e->apart ? 1 : e->gangs;
    const uint32_t label = cpu_open_scope(e, loop);
    cpu_value limit = begin_lead(e, r, label), inside;
    const bool asks = begin_steady(e, loop, label, limit, &inside);
    test_lead(e, limit, label);
    cpu_line(e, "trip%u:", label);
    e->steady = asks ? label : 0;
    e->is_beside = asks && gangs > 1;
    if (!r->step.known ||
        r->step.bits > (uint64_t)gangs * e->width) { /* others the processor foresees */
        e->stride = wide(e, &r->step);
    }
    cpu_emit_list(e, loop + 1, e->p->stmts[loop].match);
    e->stride.text[0] = '\0';
    e->steady = 0;
    e->is_beside = false;
    cpu_line(e, "  br label %%cont%u", label);
    cpu_line(e, "cont%u:", label);
    if (asks) {
        cpu_value far = cpu_new(e, VYRE_U64, CPU_ONE, "load i64, ptr %%trip_of%u", label);
        far = cpu_new(e, VYRE_U64, CPU_ONE, "add i64 %s, %s", far.text, wide(e, &r->step).text);
        cpu_line(e, "  store i64 %s, ptr %%trip_of%u", far.text, label);
    }
    for (uint32_t g = 0; g < gangs; g++) {
        if (gangs > 1) {
            cpu_side_select(e, g);
        }
        cpu_value now = cpu_get(e, var);
        cpu_set(e, var, cpu_apply(e, VYRE_EXPR_ADD, now, r->step, now), false);
    }
    cpu_value lead = cpu_new(e, VYRE_U64, CPU_ONE, "load i64, ptr %%lead%u", label);
    lead = cpu_new(e, VYRE_U64, CPU_ONE, "add i64 %s, %s", lead.text, wide(e, &r->step).text);
    cpu_line(e, "  store i64 %s, ptr %%lead%u", lead.text, label);
    cpu_emit_check(e, "1");
    test_lead(e, limit, label);
    cpu_line(e, "out%u:", label);
    e->scope_count--;
}

/* The last trips, of each gang. */
static void emit_rest(cpu_emit *e, vyre_stmt loop, const range *r) {
    const vyre_var var = e->p->stmts[loop].var;
    const uint32_t gangs = e->apart ? 1 : e->gangs;
    const bool apart = e->apart;
    e->apart = true;
    for (uint32_t g = 0; g < gangs; g++) {
        if (gangs > 1) {
            cpu_side_select(e, g);
        }
        cpu_open_for(e, loop, cpu_get(e, var), r->to, r->step);
        cpu_emit_list(e, loop + 1, e->p->stmts[loop].match + 1);
    }
    e->apart = apart;
}

static bool emit_range(cpu_emit *e, vyre_stmt loop) {
    const vyre_var var = e->p->stmts[loop].var;
    const uint32_t gangs = e->apart ? 1 : e->gangs;
    range r;
    if (e->in_range || e->width == 1 || cpu_is_masked(e) || !stays_inside(e, loop) ||
        !evaluate(e, loop, &r)) {
        e->ranged[loop] = false;
        return false;
    }
    e->ranged[loop] = e->in_range = true;
    for (uint32_t g = 0; g < gangs; g++) {
        if (gangs > 1) {
            cpu_side_select(e, g);
        }
        cpu_set(e, var, r.from[g], true);
    }
    emit_full(e, loop, &r);
    emit_rest(e, loop, &r);
    e->in_range = false;
    if (gangs > 1) {
        cpu_side_select(e, 0);
    }
    return true;
}

/* One statement, or a whole IF or loop; gives the last that is dealt with. */
static vyre_stmt emit_together(cpu_emit *e, vyre_stmt stmt) {
    const vyre_stmt_node *s = &e->p->stmts[stmt];
    const bool straight = s->op == VYRE_STMT_LET || s->op == VYRE_STMT_ASSIGN ||
                          s->op == VYRE_STMT_STORE || s->op == VYRE_STMT_ATOMIC;
    if (e->side[stmt] == CPU_SIDE_ONCE) {
        cpu_emit_stmt(e, stmt);
        return stmt;
    }
    if (straight) {
        for (uint32_t g = 0; g < e->gangs; g++) {
            cpu_side_select(e, g);
            cpu_emit_stmt(e, stmt);
        }
        cpu_side_select(e, 0);
        return stmt;
    }
    if (e->side[stmt] != CPU_SIDE_RANGE || !emit_range(e, stmt)) {
        emit_apart(e, stmt, end_of(e->p, stmt) + 1);
    }
    return end_of(e->p, stmt);
}

/* Whether a loop has a form of its own, for one gang. */
static bool emit_loop(cpu_emit *e, vyre_stmt i) {
    return e->p->stmts[i].op == VYRE_STMT_FOR && (cpu_emit_prefix(e, i) || emit_range(e, i) ||
                                                  cpu_emit_across(e, i) || cpu_emit_strips(e, i));
}

void cpu_emit_list(cpu_emit *e, vyre_stmt begin, vyre_stmt end) {
    for (vyre_stmt i = begin; i < end; i++) {
        const bool together = e->gangs > 1 && !e->apart;
        if (cpu_emit_turned(e, i) || (!together && emit_loop(e, i))) {
            i = e->p->stmts[i].match;
        } else if (together) {
            i = emit_together(e, i);
        } else {
            cpu_emit_stmt(e, i);
        }
    }
}
