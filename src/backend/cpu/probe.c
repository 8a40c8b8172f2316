/* Code that finds out, for a range of lanes, what vectors may rely on: which part passes the guards
 * around the whole body (`if (x > 0 && x < width - 1 && y > 0)`, `if (i >= n) { exit; }`), and up
 * to where more is the same for all lanes (piece.c). It runs what is the same for all lanes of the
 * segment, or linear in them, and changes nothing. Where it does not know which way lanes go it
 * looks at both; loops are passed over, and what they assign is not known.
 *
 * `probe(.., from, to, out)` fills in out: the first lane that has something to do, the one behind
 * the last, and where to ask again; it gives whether vectors may run that part. At least one lane
 * is answered for, since every cut lies behind the first one. */
#include <string.h>

#include "backend/cpu/kernel.h"

static cpu_scope *open_scope(cpu_emit *e, vyre_stmt stmt) {
    cpu_scope *scope = &e->scopes[e->scope_count++];
    *scope = (cpu_scope){.opener = stmt, .label = cpu_label(e)};
    return scope;
}

static void make_opaque(cpu_emit *e, vyre_var var) {
    if (var != VYRE_NONE && !e->opaque[var]) {
        e->opaque[var] = true;
        e->changed = true;
    }
}

/* Statements [begin, end) are passed over. */
static void pass_over(cpu_emit *e, vyre_stmt begin, vyre_stmt end) {
    for (vyre_stmt i = begin; i < end; i++) {
        const vyre_stmt_node *s = &e->p->stmts[i];
        if (s->op == VYRE_STMT_ASSIGN) {
            make_opaque(e, s->var);
        }
        e->given_up |= s->op == VYRE_STMT_TRAP;
    }
}

/* Whether nothing but ends of lists follows the statement. */
static bool is_last(const vyre_program_view *p, vyre_stmt stmt) {
    bool last = true;
    for (vyre_stmt i = stmt + 1; i < p->stmt_count; i++) {
        last &= p->stmts[i].op == VYRE_STMT_END;
    }
    return last;
}

/* Whether all lists around are run by all that is left. */
static bool is_outermost(const cpu_emit *e) {
    bool outermost = true;
    for (uint32_t i = 0; i < e->scope_count; i++) {
        const vyre_stmt opener = e->scopes[i].opener;
        outermost &= e->p->stmts[opener].op != VYRE_STMT_IF ||
                     (e->found[cpu_stmt_site(e, opener)] & CPU_MARK_GUARD) != 0;
    }
    return outermost;
}

/* An IF; gives the last statement that is dealt with. */
static vyre_stmt probe_if(cpu_emit *e, vyre_stmt stmt, bool effects) {
    const vyre_program_view *p = e->p;
    const vyre_stmt_node *s = &p->stmts[stmt];
    const uint32_t site = cpu_stmt_site(e, stmt);
    const bool has_else = p->stmts[s->match].op == VYRE_STMT_ELSE;
    const vyre_stmt end = has_else ? p->stmts[s->match].match : s->match;
    const bool leaves = end == stmt + 2 && p->stmts[stmt + 1].op == VYRE_STMT_EXIT;
    const bool surrounds = !has_else && is_last(p, end);
    cpu_emit_exprs(e, s->first_expr, s->end_expr);
    cpu_value condition = cpu_operand(e, s, 0);
    if (!effects && (leaves || surrounds) && is_outermost(e) && cpu_clip(e, condition, leaves)) {
        const uint32_t label = cpu_label(e);
        e->found[site] |= CPU_MARK_GUARD;
        cpu_line(e, "  %%lo%u = load i64, ptr %%lo\n  %%hi%u = load i64, ptr %%hi", label, label);
        cpu_line(e, "  %%some%u = icmp slt i64 %%lo%u, %%hi%u", label, label, label);
        cpu_line(e, "  br i1 %%some%u, label %%left%u, label %%probed\nleft%u:", label, label,
                 label);
        if (!leaves) {
            (void)open_scope(e, stmt);
        }
        return leaves ? end : stmt;
    }
    condition = cpu_cut_condition(e, cpu_truth(e, condition), site);
    cpu_scope *scope = open_scope(e, stmt);
    scope->has_else = has_else;
    scope->parts = condition.hold != CPU_ONE;
    e->depth += scope->parts;
    if (!scope->parts) {
        cpu_line(e, "  br i1 %s, label %%then%u, label %%%s%u\nthen%u:", condition.text,
                 scope->label, has_else ? "else" : "end", scope->label, scope->label);
    }
    return stmt;
}

static bool branches(const cpu_emit *e, const cpu_scope *s) {
    return e->p->stmts[s->opener].op == VYRE_STMT_IF && !s->parts &&
           !(e->found[cpu_stmt_site(e, s->opener)] & CPU_MARK_GUARD);
}

static void probe_else(cpu_emit *e) {
    const cpu_scope *s = &e->scopes[e->scope_count - 1];
    if (branches(e, s)) {
        cpu_line(e, "  br label %%end%u\nelse%u:", s->label, s->label);
    }
}

static void probe_end(cpu_emit *e) {
    const cpu_scope *s = &e->scopes[--e->scope_count];
    e->depth -= s->parts;
    if (branches(e, s)) {
        cpu_line(e, "  br label %%end%u\nend%u:", s->label, s->label);
    }
}

/* Gives the last statement that is dealt with. */
static vyre_stmt probe_stmt(cpu_emit *e, vyre_stmt stmt, bool *effects) {
    const vyre_stmt_node *s = &e->p->stmts[stmt];
    e->stmt = stmt;
    switch ((int)s->op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_ASSIGN:
        cpu_emit_exprs(e, s->first_expr, s->end_expr);
        cpu_set(e, s->var, cpu_operand(e, s, 0), s->op == VYRE_STMT_LET);
        break;
    case VYRE_STMT_STORE:
        cpu_emit_exprs(e, s->first_expr, s->end_expr);
        cpu_probe_access(e, s->decl, cpu_operand(e, s, 0), cpu_stmt_site(e, stmt));
        *effects = true;
        break;
    case VYRE_STMT_ATOMIC:
    case VYRE_STMT_SUBGROUP:
        make_opaque(e, s->var);
        *effects = true;
        break;
    case VYRE_STMT_IF: return probe_if(e, stmt, *effects);
    case VYRE_STMT_ELSE: probe_else(e); break;
    case VYRE_STMT_FOR: /* its header is run once */
        cpu_emit_exprs(e, s->first_expr, s->end_expr);
        pass_over(e, stmt, s->match);
        *effects = true; /* perhaps */
        return s->match;
    case VYRE_STMT_WHILE:
        pass_over(e, stmt, s->match);
        *effects = true; /* perhaps */
        return s->match;
    case VYRE_STMT_EXIT:
        if (e->depth == 0) {
            cpu_line(e, "  br label %%probed\ndead%u:", cpu_label(e));
        }
        break;
    case VYRE_STMT_BLOCK:
    case VYRE_STMT_REGION: (void)open_scope(e, stmt); break;
    case VYRE_STMT_END: probe_end(e); break;
    default: e->given_up = true; break;
    }
    return stmt;
}

static void emit_probe(cpu_emit *e) {
    bool effects = false;
    memset(e->found, 0, (size_t)e->p->expr_count + e->p->stmt_count);
    cpu_head(e, "  %%ok = alloca i1\n  store i1 true, ptr %%ok");
    cpu_head(e, "  %%lo = alloca i64\n  store i64 0, ptr %%lo");
    cpu_head(e, "  %%hi = alloca i64\n  %%end = alloca i64");
    cpu_head(e, "  %%range = sub i32 %%to, %%from\n  %%range64 = zext i32 %%range to i64");
    cpu_head(e, "  store i64 %%range64, ptr %%hi\n  store i64 %%range64, ptr %%end");
    cpu_range_ids(e, "%from");
    for (vyre_stmt i = e->p->entry; i < e->p->stmt_count; i++) {
        i = probe_stmt(e, i, &effects);
    }
    cpu_line(e, "  br label %%probed\nprobed:");
    cpu_line(e, "  %%lo_last = load i64, ptr %%lo\n  %%hi_last = load i64, ptr %%hi");
    cpu_line(e, "  %%hi_most = call i64 @llvm.smax.i64(i64 %%lo_last, i64 %%hi_last)");
    cpu_line(e, "  %%end_last = load i64, ptr %%end");
    static const char *const parts[] = {"lo_last", "hi_most", "end_last"};
    for (int i = 0; i < 3; i++) {
        cpu_line(e, "  %%near%d = trunc i64 %%%s to i32\n  %%at%d = add i32 %%near%d, %%from", i,
                 parts[i], i, i);
        cpu_line(e, "  %%out%d = getelementptr i8, ptr %%out, i64 %d", i, 4 * i);
        cpu_line(e, "  store i32 %%at%d, ptr %%out%d", i, i);
    }
    cpu_line(e, "  %%said = load i1, ptr %%ok\n  ret i1 %%said");
}

bool cpu_find_pieces(cpu_emit *e) {
    enum { ROUNDS = 8 };
    const size_t sites = (size_t)e->p->expr_count + e->p->stmt_count;
    memset(e->marks, 0, sites);
    e->trusts = true;
    for (int i = 0; i < ROUNDS; i++) {
        cpu_part_forget(e);
        cpu_part_settle(e, cpu_emit_range);
        memset(e->opaque, 0, e->p->var_count);
        e->probing = true;
        cpu_part_settle(e, emit_probe);
        e->probing = false;
        if (e->given_up) {
            break;
        }
        if (memcmp(e->marks, e->found, sites) == 0) {
            return true;
        }
        memcpy(e->marks, e->found, sites);
    }
    e->trusts = false;
    return false;
}

bool cpu_has_guard(const cpu_emit *e) {
    bool any = false;
    for (vyre_stmt i = 0; i < e->p->stmt_count; i++) {
        any |= (e->marks[cpu_stmt_site(e, i)] & CPU_MARK_GUARD) != 0;
    }
    return any;
}
