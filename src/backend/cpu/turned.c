/* Loops over all groups, trip by trip: a program with subgroup operations that is
 *     for (i in group_id.x * 8 .. n step num_groups.x * 8) { body }
 * and what that needs. One group after the other would go through memory in large steps, again and
 * again; so all groups that a worker has taken make their first trip, then their second one, until
 * none of them has any more. The function of a group is told which trip it is in (%tick), and tells
 * whether there was one (%made).
 *
 * Why that is right: trip t of a group is at from + t * step, if that is below the end, in 64 bits:
 * a sum that passes 2^32 is above every end, as a loop ends there. A group makes its trips in
 * order, and groups are free to run in any order between barriers, of which there are none.
 * Nothing lives from trip to trip: the body assigns no variable from outside, there is no private
 * or workgroup memory, and what stands before the loop is made of ids, params and lengths alone.
 * Nobody leaves the loop from inside. */
#include "backend/cpu/kernel.h"

/* Names, ids, and what is made of them: the same whenever it is asked for. */
static bool is_plain(const vyre_program_view *p, const vyre_stmt_node *s) {
    bool plain = true;
    for (vyre_expr i = s->first_expr; i < s->end_expr; i++) {
        plain &= p->exprs[i].op != VYRE_EXPR_LOAD;
    }
    return plain;
}

enum { MOST_LETS = 64 }; /* before the loop */

/* Whether what the loop begins, ends and goes on with is the same for all lanes of a group. */
static bool is_of_group(const vyre_program_view *p, vyre_stmt loop) {
    bool of_group[MOST_LETS + 1] = {0}; /* of statements from the first one on */
    if (loop - p->entry > MOST_LETS) {
        return false;
    }
    for (vyre_stmt i = p->entry; i <= loop; i++) {
        bool same = true;
        for (vyre_expr k = p->stmts[i].first_expr; k < p->stmts[i].end_expr; k++) {
            const vyre_expr_node *n = &p->exprs[k];
            same &= n->op != VYRE_EXPR_BUILTIN || n->sub == VYRE_BUILTIN_GROUP_ID ||
                    n->sub == VYRE_BUILTIN_NUM_GROUPS || n->sub == VYRE_BUILTIN_GROUP_SIZE ||
                    n->sub == VYRE_BUILTIN_GLOBAL_SIZE || n->sub == VYRE_BUILTIN_SUBGROUP_SIZE;
            for (vyre_stmt l = p->entry; n->op == VYRE_EXPR_VAR && l < i; l++) {
                same &= p->stmts[l].var != n->ref || of_group[l - p->entry];
            }
        }
        of_group[i - p->entry] = same;
    }
    return of_group[loop - p->entry];
}

static bool has_id(const vyre_program_view *p, vyre_stmt stmt, vyre_builtin id) {
    bool has = false;
    for (vyre_expr i = p->stmts[stmt].first_expr; i < p->stmts[stmt].end_expr; i++) {
        has |= p->exprs[i].op == VYRE_EXPR_BUILTIN && p->exprs[i].sub == id;
    }
    return has;
}

/* Whether a variable that is bound before the loop is assigned anywhere. */
static bool stays_inside(const vyre_program_view *p, vyre_stmt loop) {
    bool inside = true;
    for (vyre_stmt i = loop + 1; i < p->stmt_count && inside; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        const bool leaves = s->op == VYRE_STMT_BREAK || s->op == VYRE_STMT_CONTINUE ||
                            s->op == VYRE_STMT_EXIT || s->op == VYRE_STMT_TRAP;
        bool bound = s->op != VYRE_STMT_ASSIGN;
        for (vyre_stmt k = loop + 1; k < i && !bound; k++) {
            bound = p->stmts[k].op != VYRE_STMT_ASSIGN && p->stmts[k].var == s->var;
        }
        inside = bound && !leaves;
    }
    return inside;
}

vyre_stmt cpu_turned_loop(const cpu_group *group) {
    const vyre_program_view *p = vyre_program_get(group->program);
    vyre_stmt loop = p->entry;
    if (group->module || group->arena || !(p->stats.stmt_kinds >> VYRE_STMT_SUBGROUP & 1)) {
        return VYRE_NONE;
    }
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        if (p->decls[d].role == VYRE_PRIVATE) {
            return VYRE_NONE;
        }
    }
    while (loop < p->stmt_count && p->stmts[loop].op == VYRE_STMT_LET &&
           is_plain(p, &p->stmts[loop])) {
        loop++;
    }
    if (loop == p->stmt_count || p->stmts[loop].op != VYRE_STMT_FOR ||
        p->stmts[loop].match + 1 != p->stmt_count || p->stmts[loop].arg[2] == VYRE_NONE ||
        !is_plain(p, &p->stmts[loop]) || !has_id(p, loop, VYRE_BUILTIN_GROUP_ID) ||
        !has_id(p, loop, VYRE_BUILTIN_NUM_GROUPS) || !is_of_group(p, loop) ||
        !stays_inside(p, loop)) {
        return VYRE_NONE;
    }
    return loop;
}

static cpu_value wide(cpu_emit *e, cpu_value v) {
    return cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i64", v.text);
}

bool cpu_emit_turned(cpu_emit *e, vyre_stmt loop) {
    const vyre_stmt_node *n = &e->p->stmts[loop];
    if (!e->turned || e->turned != loop + 1) {
        return false;
    }
    cpu_emit_exprs(e, n->first_expr, n->end_expr);
    const cpu_value from = cpu_operand(e, n, 0), to = cpu_operand(e, n, 1);
    const cpu_value step = cpu_operand(e, n, 2), tick = {.type = VYRE_U32, .text = "%tick"};
    const uint32_t label = cpu_label(e);
    cpu_note(e, loop, "loop",
             "all groups make one trip, then the next because groups are side by side in a trip");
    cpu_value far = cpu_binary(e, "mul", VYRE_U64, wide(e, tick), wide(e, step));
    cpu_value at = cpu_binary(e, "add", VYRE_U64, wide(e, from), far);
    cpu_value some = cpu_compare(e, "ult", at, wide(e, to));
    cpu_value moves = cpu_compare(e, "ne", step, cpu_u32(0));
    some = cpu_binary(e, "and", VYRE_BOOL, some, moves);
    cpu_line(e, "  br i1 %s, label %%turn%u, label %%turned%u", some.text, label, label);
    cpu_line(e, "turn%u:", label);
    cpu_set(e, n->var, cpu_new(e, VYRE_U32, CPU_ONE, "trunc i64 %s to i32", at.text), true);
    cpu_emit_list(e, loop + 1, n->match);
    cpu_line(e, "  store i32 1, ptr %%made, align 4");
    cpu_line(e, "  br label %%turned%u", label);
    cpu_line(e, "turned%u:", label);
    return true;
}
