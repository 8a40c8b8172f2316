/* The form of segments that share nothing within their group: groups are dissolved, and all lanes
 * along x of a row of the grid are one range. Work is cut into chunks of rows; a worker runs what
 * it takes of a row at once.
 *
 * Three functions run a range of lanes:
 *   probe  finds out, from the first lane, which part of the range passes the guards around the
 *          whole body (`if (x > 0 && x < width - 1 && y > 0)`, `if (i >= n) { exit; }`), and
 *          whether all accesses at consecutive indices are in bounds there. It runs the part of the
 *          body that is the same for all lanes, or linear in them, and changes nothing.
 *   wide   gangs of as many lanes as vectors have, without guards and bounds that probe answers for
 *   one    lane after lane, with all checks: what is left at the end of the range, and chunks for
 *          which probe says no
 * Where trips of a loop vary from lane to lane, or with atomics, there is only `one`.
 *
 * Why that is right: lanes of a segment may run in any order; a lane outside the guards does
 * nothing, since the guards stand around all that has effects; a value that is linear in the lane
 * is that of the first lane plus the distance, and probe says no where that would wrap. */
#include <stdio.h>
#include <string.h>

#include "backend/cpu/kernel.h"
#include "base/alloc.h"
#include "base/diag.h"
#include "base/mutant.h"

enum { CHUNK = 512 }; /* lanes along x that are handed out at once */

static const char range_arguments[] = "ptr %ctx, i32 %gy, i32 %gz, i32 %from, i32 %to";
static const char probe_arguments[] = "ptr %ctx, i32 %gy, i32 %gz, i32 %from, i32 %to, ptr %out";

bool cpu_rows_apply(const cpu_group *group) {
    const vyre_program_view *p = vyre_program_get(group->program);
    bool apart =
        !group->module && group->arena == 0 && !(p->stats.stmt_kinds >> VYRE_STMT_SUBGROUP & 1);
    for (vyre_expr i = 0; i < p->expr_count; i++) {
        const uint8_t id = p->exprs[i].sub;
        apart &= p->exprs[i].op != VYRE_EXPR_BUILTIN || id == VYRE_BUILTIN_GLOBAL_ID ||
                 id == VYRE_BUILTIN_GLOBAL_SIZE || id == VYRE_BUILTIN_NUM_GROUPS ||
                 id == VYRE_BUILTIN_GROUP_SIZE;
    }
    return apart;
}

/* Ids of a gang, or lane, that begins at x. */
static void set_ids(cpu_emit *e, const char *x) {
    e->ids[0] = (cpu_value){
        .type = VYRE_U32, .hold = e->width > 1 ? CPU_LINEAR : CPU_ONE, .stride = e->width > 1};
    e->lane = e->ids[0];
    (void)snprintf(e->lane.text, sizeof e->lane.text, "%s", x);
    if (e->form == CPU_FORM_LANES) { /* of a group along x */
        e->ids[0] = e->lane;
        e->ids[1] = e->ids[2] = cpu_u32(0);
        return;
    }
    e->ids[1] = e->ids[2] = (cpu_value){.type = VYRE_U32};
    (void)snprintf(e->ids[0].text, sizeof e->ids[0].text, "%s", x);
    memcpy(e->ids[1].text, "%gy", 4);
    memcpy(e->ids[2].text, "%gz", 4);
}

/* The linear number of a lane in the grid, group by group, from its id along x. */
cpu_value cpu_rows_lane(cpu_emit *e, cpu_value x) {
    const uint32_t *size = e->p->workgroup;
    const char *ids[3] = {x.text, "%gy", "%gz"};
    static const char *const groups[3] = {"%nx", "%ny", "%nz"};
    cpu_value group = cpu_literal(VYRE_U64, 0), local = group;
    for (int axis = 2; axis >= 0; axis--) {
        cpu_value g = cpu_new(e, VYRE_U32, CPU_ONE, "udiv i32 %s, %u", ids[axis], size[axis]);
        cpu_value l = cpu_new(e, VYRE_U32, CPU_ONE, "urem i32 %s, %u", ids[axis], size[axis]);
        cpu_value n = cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i64", groups[axis]);
        g = cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i64", g.text);
        l = cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i64", l.text);
        group = cpu_new(e, VYRE_U64, CPU_ONE, "mul i64 %s, %s", group.text, n.text);
        group = cpu_new(e, VYRE_U64, CPU_ONE, "add i64 %s, %s", group.text, g.text);
        local = cpu_new(e, VYRE_U64, CPU_ONE, "mul i64 %s, %u", local.text, size[axis]);
        local = cpu_new(e, VYRE_U64, CPU_ONE, "add i64 %s, %s", local.text, l.text);
    }
    group =
        cpu_new(e, VYRE_U64, CPU_ONE, "mul i64 %s, %u", group.text, size[0] * size[1] * size[2]);
    return cpu_new(e, VYRE_U64, CPU_ONE, "add i64 %s, %s", group.text, local.text);
}

/* As many whole gangs as [x0, x1) has. */
void cpu_emit_range(cpu_emit *e) {
    const char *mask = cpu_type(e, VYRE_BOOL, true);
    cpu_head(e, "  %%fuel = alloca i64\n  store i64 %d, ptr %%fuel", CPU_FUEL);
    cpu_head(e, "  %%far = alloca i64\n  store i64 0, ptr %%far");
    cpu_head(e, "  %%range = sub i32 %%to, %%from\n  %%range64 = zext i32 %%range to i64");
    cpu_line(e, "  br label %%gangs");
    cpu_line(e, "gangs:");
    cpu_line(e, "  %%k = load i64, ptr %%far"); /* how far the gang is from the first */
    cpu_line(e, "  %%k32 = trunc i64 %%k to i32");
    cpu_line(e, "  %%l = add i32 %%from, %%k32");
    cpu_line(e, "  %%k_next = add nuw nsw i64 %%k, %u", e->width);
    cpu_line(e, "  %%gang_more = icmp ule i64 %%k_next, %%range64");
    cpu_line(e, "  br i1 %%gang_more, label %%gang, label %%finish");
    cpu_line(e, "gang:");
    set_ids(e, "%l");
    if (e->width > 1) {
        cpu_head(e, "  %%act = alloca %s\n  %%ended = alloca %s", mask, mask);
        cpu_line(e, "  store %s zeroinitializer, ptr %%ended", mask);
        cpu_value all = cpu_each(e, cpu_literal(VYRE_BOOL, 1));
        cpu_line(e, "  store %s %s, ptr %%act", mask, all.text);
    }
    cpu_emit_privates(e);
    cpu_emit_list(e, e->p->entry, e->p->stmt_count);
    cpu_line(e, "  br label %%gang_end");
    cpu_line(e, "gang_end:");
    cpu_line(e, "  store i64 %%k_next, ptr %%far");
    cpu_line(e, "  br label %%gangs");
    cpu_line(e, "finish:\n  ret i1 false");
    cpu_line(e, "stop:\n  ret i1 true");
}

/* Probing. %lo and %hi are the part of the range that is left, as distances from x0; %ok. */

static cpu_value left_at(cpu_emit *e, const char *place) {
    return cpu_new(e, VYRE_I64, CPU_ONE, "load i64, ptr %s", place);
}

static void put(cpu_emit *e, const char *place, cpu_value v) {
    cpu_line(e, "  store %s %s, ptr %s", cpu_type_of(e, &v), v.text, place);
}

/* Says no unless the condition holds, or nothing is left. */
static void must(cpu_emit *e, cpu_value condition) {
    cpu_value empty = cpu_compare(e, "sge", left_at(e, "%lo"), left_at(e, "%hi"));
    cpu_value fine = cpu_binary(e, "or", VYRE_BOOL, condition, empty);
    cpu_value ok = cpu_new(e, VYRE_BOOL, CPU_ONE, "load i1, ptr %%ok");
    put(e, "%ok", cpu_binary(e, "and", VYRE_BOOL, ok, fine));
}

/* The value at the first lane that is left, and how many are. */
static cpu_value at_first(cpu_emit *e, cpu_value v, cpu_value *out_count) {
    cpu_value lo = left_at(e, "%lo"), hi = left_at(e, "%hi");
    cpu_value distance = cpu_new(e, VYRE_U32, CPU_ONE, "trunc i64 %s to i32", lo.text);
    cpu_value there =
        cpu_new(e, (vyre_type)v.type, CPU_ONE, "add i32 %s, %s", v.text, distance.text);
    *out_count = cpu_binary(e, "sub", VYRE_I64, hi, lo);
    return cpu_new(e, VYRE_I64, CPU_ONE, "%s i32 %s to i64",
                   vyre_type_is_signed((vyre_type)v.type) ? "sext" : "zext", there.text);
}

void cpu_probe_access(cpu_emit *e, vyre_decl decl, cpu_value index) {
    if (index.hold != CPU_LINEAR || index.stride != 1 ||
        e->bindings[decl].meaning == CPU_IS_PRIVATE) {
        return;
    }
    cpu_value count, first = at_first(e, index, &count);
    cpu_need_base(e, decl);
    cpu_value end = cpu_binary(e, "add", VYRE_I64, first, count);
    cpu_value most = cpu_new(e, VYRE_I64, CPU_ONE, "zext i32 %%n%u to i64", decl);
    if (VYRE_MUTANT(cpu_probe_bounds, true, false)) {
        must(e, cpu_compare(e, "sle", end, most));
    }
}

/* What a comparison does to the range. */
typedef struct clip {
    cpu_value linear, one;
    vyre_expr_op op; /* linear OP one */
} clip;

static vyre_expr_op mirrored(vyre_expr_op op) {
    return op == VYRE_EXPR_LT   ? VYRE_EXPR_GT
           : op == VYRE_EXPR_GT ? VYRE_EXPR_LT
           : op == VYRE_EXPR_LE ? VYRE_EXPR_GE
           : op == VYRE_EXPR_GE ? VYRE_EXPR_LE
                                : op;
}

static vyre_expr_op opposite(vyre_expr_op op) {
    return op == VYRE_EXPR_LT   ? VYRE_EXPR_GE
           : op == VYRE_EXPR_GE ? VYRE_EXPR_LT
           : op == VYRE_EXPR_GT ? VYRE_EXPR_LE
           : op == VYRE_EXPR_LE ? VYRE_EXPR_GT
                                : VYRE_EXPR_COUNT;
}

static bool is_consecutive(const cpu_value *v) {
    return v->hold == CPU_LINEAR && v->stride == 1;
}

/* Whether the node is a comparison that clips; with its values known. */
static bool as_clip(const cpu_emit *e, const vyre_stmt_node *s, vyre_expr node, bool negated,
                    clip *out) {
    const vyre_expr_node *n = &e->p->exprs[node];
    const vyre_expr_op op = (vyre_expr_op)n->op;
    if (op != VYRE_EXPR_LT && op != VYRE_EXPR_LE && op != VYRE_EXPR_GT && op != VYRE_EXPR_GE &&
        op != VYRE_EXPR_EQ) {
        return false;
    }
    const cpu_value x = e->values[n->u.arg[0] - s->first_expr],
                    y = e->values[n->u.arg[1] - s->first_expr];
    if (is_consecutive(&x) && y.hold == CPU_ONE) {
        *out = (clip){x, y, op};
    } else if (is_consecutive(&y) && x.hold == CPU_ONE) {
        *out = (clip){y, x, mirrored(op)};
    } else {
        return false;
    }
    out->op = negated ? opposite(out->op) : out->op;
    return out->op != VYRE_EXPR_COUNT;
}

static cpu_value extreme(cpu_emit *e, const char *name, cpu_value x, cpu_value y) {
    return cpu_new(e, VYRE_I64, CPU_ONE, "call i64 @llvm.%s.i64(i64 %s, i64 %s)", name, x.text,
                   y.text);
}

static void emit_clip(cpu_emit *e, const clip *c) {
    const bool plus_minus = vyre_type_is_signed((vyre_type)c->linear.type);
    cpu_value count, first = at_first(e, c->linear, &count);
    cpu_value bound = cpu_new(e, VYRE_I64, CPU_ONE, "%s i32 %s to i64",
                              plus_minus ? "sext" : "zext", c->one.text);
    cpu_value end = cpu_binary(e, "add", VYRE_I64, first, count);
    cpu_value top =
        cpu_literal(VYRE_I64, plus_minus ? UINT64_C(0x80000000) : UINT64_C(0x100000000));
    must(e, cpu_compare(e, "sle", end, top)); /* no lane wraps */
    cpu_value lo = left_at(e, "%lo"), hi = left_at(e, "%hi");
    cpu_value gap = cpu_binary(e, "sub", VYRE_I64, bound, first);
    cpu_value at = cpu_binary(e, "add", VYRE_I64, lo, gap); /* where both are equal */
    cpu_value behind = cpu_binary(e, "add", VYRE_I64, at, cpu_literal(VYRE_I64, 1));
    if (c->op == VYRE_EXPR_LT || c->op == VYRE_EXPR_LE || c->op == VYRE_EXPR_EQ) {
        put(e, "%hi",
            extreme(e, "smin", hi,
                    c->op == VYRE_EXPR_LT ? at : VYRE_MUTANT(cpu_clip_end, behind, at)));
    }
    if (c->op == VYRE_EXPR_GT || c->op == VYRE_EXPR_GE || c->op == VYRE_EXPR_EQ) {
        put(e, "%lo", extreme(e, "smax", lo, c->op == VYRE_EXPR_GT ? behind : at));
    }
}

/* A guard is a tree of `&&` (of `||`, where it leads to an exit) over comparisons that clip and
 * conditions that are the same for all lanes. Its nodes lie between first and its root. With
 * `emits` it clips, else it only says whether it could. */
static bool clip_tree(cpu_emit *e, const vyre_stmt_node *s, bool negated, bool emits) {
    const vyre_expr_op inner = negated ? VYRE_EXPR_OR : VYRE_EXPR_AND;
    vyre_expr stack[VYRE_LIMIT_EXPR_DEPTH * 2];
    uint32_t count = 0;
    stack[count++] = s->arg[0];
    while (count > 0) {
        const vyre_expr node = stack[--count];
        const vyre_expr_node *n = &e->p->exprs[node];
        const cpu_value v = e->values[node - s->first_expr];
        clip c;
        if (v.hold == CPU_ONE) {
            if (emits) {
                cpu_value holds = cpu_truth(e, v);
                cpu_value hi = left_at(e, "%hi"), lo = left_at(e, "%lo");
                put(e, "%hi",
                    negated ? cpu_select(e, holds, lo, hi) : cpu_select(e, holds, hi, lo));
            }
        } else if (n->op == (uint8_t)inner && count + 2 <= sizeof stack / sizeof *stack) {
            stack[count++] = n->u.arg[0];
            stack[count++] = n->u.arg[1];
        } else if (as_clip(e, s, node, negated, &c)) {
            if (emits) {
                emit_clip(e, &c);
            }
        } else {
            return false;
        }
    }
    return true;
}

/* Whether nothing but ends of lists follows the statement. */
static bool is_last(const vyre_program_view *p, vyre_stmt stmt) {
    bool last = true;
    for (vyre_stmt i = stmt + 1; i < p->stmt_count; i++) {
        last &= p->stmts[i].op == VYRE_STMT_END;
    }
    return last;
}

/* Statements [begin, end) are passed over; what they assign must not matter to what is probed. Says
 * whether they may have effects: a guard behind them must not keep lanes from them. */
static bool pass_over(cpu_emit *e, vyre_stmt begin, vyre_stmt end) {
    bool effects = false;
    for (vyre_stmt i = begin; i < end; i++) {
        const vyre_stmt_node *s = &e->p->stmts[i];
        if (s->op == VYRE_STMT_ASSIGN && e->holds[s->var] != CPU_EACH) {
            e->given_up = true;
        }
        effects |= s->op != VYRE_STMT_LET && s->op != VYRE_STMT_ASSIGN && s->op != VYRE_STMT_IF &&
                   s->op != VYRE_STMT_ELSE && s->op != VYRE_STMT_END;
    }
    return VYRE_MUTANT(cpu_passed_effects, effects, false);
}

/* An IF: a guard, or something to be passed over. Gives the last statement that is dealt with. */
static vyre_stmt probe_if(cpu_emit *e, vyre_stmt stmt, bool *effects) {
    const vyre_program_view *p = e->p;
    const vyre_stmt_node *s = &p->stmts[stmt];
    const vyre_stmt end =
        p->stmts[s->match].op == VYRE_STMT_ELSE ? p->stmts[s->match].match : s->match;
    const bool leaves = end == stmt + 2 && p->stmts[stmt + 1].op == VYRE_STMT_EXIT;
    const bool surrounds = end == s->match && is_last(p, end);
    cpu_emit_exprs(e, s->first_expr, s->end_expr);
    if (*effects || !(leaves || surrounds) || !clip_tree(e, s, leaves, false)) {
        e->guards[stmt] = false;
        *effects |= pass_over(e, stmt, end);
        return end;
    }
    e->guards[stmt] = true;
    (void)clip_tree(e, s, leaves, true);
    return leaves ? end : stmt;
}

static void probe_body(cpu_emit *e) {
    const vyre_program_view *p = e->p;
    bool effects = false;
    for (vyre_stmt i = p->entry; i < p->stmt_count; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        switch ((int)s->op) {
        case VYRE_STMT_LET:
        case VYRE_STMT_ASSIGN:
            cpu_emit_exprs(e, s->first_expr, s->end_expr);
            cpu_set(e, s->var, cpu_operand(e, s, 0), s->op == VYRE_STMT_LET);
            break;
        case VYRE_STMT_STORE:
            cpu_emit_exprs(e, s->first_expr, s->end_expr);
            cpu_probe_access(e, s->decl, cpu_operand(e, s, 0));
            effects = true;
            break;
        case VYRE_STMT_IF: i = probe_if(e, i, &effects); break;
        case VYRE_STMT_FOR:
        case VYRE_STMT_WHILE:
            (void)pass_over(e, i, s->match);
            i = s->match;
            effects = true; /* perhaps */
            break;
        case VYRE_STMT_BLOCK:
        case VYRE_STMT_REGION:
        case VYRE_STMT_END: break;
        default: e->given_up = true; break;
        }
    }
}

static void emit_probe(cpu_emit *e) {
    cpu_head(e, "  %%ok = alloca i1\n  store i1 true, ptr %%ok");
    cpu_head(e, "  %%lo = alloca i64\n  store i64 0, ptr %%lo\n  %%hi = alloca i64");
    cpu_head(e, "  %%range = sub i32 %%to, %%from\n  %%range64 = zext i32 %%range to i64");
    cpu_head(e, "  store i64 %%range64, ptr %%hi");
    set_ids(e, "%from");
    probe_body(e);
    cpu_value lo = left_at(e, "%lo"), hi = left_at(e, "%hi");
    hi = extreme(e, "smax", hi, lo);
    for (int i = 0; i < 2; i++) {
        cpu_value narrow =
            cpu_new(e, VYRE_U32, CPU_ONE, "trunc i64 %s to i32", i ? hi.text : lo.text);
        narrow = cpu_new(e, VYRE_U32, CPU_ONE, "add i32 %s, %%from", narrow.text);
        cpu_value to = cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr i8, ptr %%out, i64 %d", 4 * i);
        cpu_line(e, "  store i32 %s, ptr %s", narrow.text, to.text);
    }
    cpu_line(e, "  %%said = load i1, ptr %%ok\n  ret i1 %%said");
}

void cpu_part_forget(cpu_emit *e) {
    memset(e->holds, 0, e->p->var_count);
    memset(e->strides, 0, e->p->var_count * sizeof *e->strides);
    memset(e->started, 0, e->p->var_count);
    memset(e->parts, 0, e->p->stmt_count);
    e->may_end = e->given_up = false;
}

/* Emits `probe` with what is known of variables; false: it can't be found out. */
bool cpu_try_probe(cpu_emit *e) {
    e->probing = true;
    e->given_up = false;
    cpu_part_settle(e, emit_probe);
    e->probing = false;
    return !e->given_up;
}

/* The two fast functions; false: there are none. */
static bool write_fast(cpu_writer *w, cpu_emit *e, uint32_t number, uint32_t width) {
    char name[48];
    e->width = width;
    cpu_part_forget(e);
    cpu_part_settle(e, cpu_emit_range);
    if (!w->gang && cpu_part_has_varying_loop(e)) {
        return false;
    }
    if (cpu_try_probe(e)) { /* which guards there are */
        e->trusts = true;
        cpu_part_forget(e);
        cpu_part_settle(e, cpu_emit_range);
    }
    if (!cpu_try_probe(e)) {
        e->trusts = false;
        memset(e->guards, 0, e->p->stmt_count);
        cpu_part_forget(e);
        cpu_part_settle(e, cpu_emit_range);
        (void)snprintf(name, sizeof name, "g%u_wide", number);
        cpu_part_write(w, e, name, range_arguments);
        vyre_text_printf(w->out,
                         "define internal i1 @g%u_probe(%s) #0 {\n  store i32 %%from, ptr %%out\n"
                         "  %%second = getelementptr i8, ptr %%out, i64 4\n"
                         "  store i32 %%to, ptr %%second\n  ret i1 true\n}\n\n",
                         number, probe_arguments);
        return true;
    }
    (void)snprintf(name, sizeof name, "g%u_probe", number);
    cpu_part_write(w, e, name, probe_arguments);
    e->lists = w->lists; /* names of accesses are not used twice */
    w->lists += 1 + 3 * e->p->decl_count;
    cpu_part_settle(e, cpu_emit_range);
    (void)snprintf(name, sizeof name, "g%u_wide", number);
    cpu_part_write(w, e, name, range_arguments);
    return true;
}

/* Units [begin, end): chunks of rows, row by row. */
static void write_run(vyre_text *t, uint32_t number, const vyre_program_view *p, uint32_t width) {
    const uint32_t *size = p->workgroup;
    vyre_text_printf(t, "define void @run%u(ptr %%ctx, i64 %%begin, i64 %%end) #0 {\nentry:\n",
                     number);
    cpu_load_grid(t);
    vyre_text_printf(
        t,
        "  %%part = alloca [2 x i32]\n  %%second = getelementptr i8, ptr %%part, i64 4\n"
        "  %%nx64 = zext i32 %%nx to i64\n  %%wide = mul i64 %%nx64, %u\n"
        "  %%up = add i64 %%wide, %u\n  %%chunks = udiv i64 %%up, %u\n"
        "  %%rows32 = mul i32 %%ny, %u\n  %%rows = zext i32 %%rows32 to i64\n"
        "  %%fuel = getelementptr i8, ptr %%ctx, i64 %zu\n  br label %%units\n"
        "units:\n"
        "  %%u = phi i64 [ %%begin, %%entry ], [ %%u2, %%next ]\n"
        "  %%more = icmp ult i64 %%u, %%end\n  br i1 %%more, label %%row, label %%finish\n"
        "row:\n"
        "  %%r = udiv i64 %%u, %%chunks\n  %%c = urem i64 %%u, %%chunks\n"
        "  %%here = sub i64 %%chunks, %%c\n  %%there = sub i64 %%end, %%u\n"
        "  %%n = call i64 @llvm.umin.i64(i64 %%here, i64 %%there)\n"
        "  %%u2 = add i64 %%u, %%n\n"
        "  %%y64 = urem i64 %%r, %%rows\n  %%z64 = udiv i64 %%r, %%rows\n"
        "  %%y = trunc i64 %%y64 to i32\n  %%z = trunc i64 %%z64 to i32\n"
        "  %%b64 = mul i64 %%c, %u\n  %%c2 = add i64 %%c, %%n\n  %%e64 = mul i64 %%c2, %u\n"
        "  %%e65 = call i64 @llvm.umin.i64(i64 %%e64, i64 %%wide)\n"
        "  %%x0 = trunc i64 %%b64 to i32\n  %%x1 = trunc i64 %%e65 to i32\n",
        size[0], CHUNK - 1, CHUNK, size[1], CPU_FIELD(fuel), CHUNK, CHUNK);
    if (width == 1) {
        vyre_text_printf(t,
                         "  %%stop = call i1 @g%u_one(ptr %%ctx, i32 %%y, i32 %%z, i32 %%x0, i32 "
                         "%%x1)\n  br i1 %%stop, label %%finish, label %%count\n",
                         number);
    } else {
        /* The whole range; if probe says no, chunk by chunk. */
        vyre_text_printf(
            t,
            "  %%said = call i1 @g%u_probe(ptr %%ctx, i32 %%y, i32 %%z, i32 %%x0, i32 %%x1, ptr "
            "%%part)\n"
            "  %%step = sub i32 %%x1, %%x0\n"
            "  %%span = select i1 %%said, i32 %%step, i32 %u\n  br label %%ranges\n"
            "ranges:\n"
            "  %%a = phi i32 [ %%x0, %%row ], [ %%b, %%ranged ]\n"
            "  %%left = sub i32 %%x1, %%a\n"
            "  %%take = call i32 @llvm.umin.i32(i32 %%left, i32 %%span)\n"
            "  %%b = add i32 %%a, %%take\n"
            "  br i1 %%said, label %%fast, label %%ask\n"
            "ask:\n"
            "  %%yes = call i1 @g%u_probe(ptr %%ctx, i32 %%y, i32 %%z, i32 %%a, i32 %%b, ptr "
            "%%part)\n  br i1 %%yes, label %%fast, label %%slow\n"
            "fast:\n"
            "  %%f0 = load i32, ptr %%part\n  %%f1 = load i32, ptr %%second\n"
            "  %%fn = sub i32 %%f1, %%f0\n  %%fr = and i32 %%fn, %u\n  %%fm = sub i32 %%f1, %%fr\n"
            "  %%s1 = call i1 @g%u_wide(ptr %%ctx, i32 %%y, i32 %%z, i32 %%f0, i32 %%fm)\n"
            "  br i1 %%s1, label %%finish, label %%rest\n"
            "slow:\n  br label %%rest\n"
            "rest:\n"
            "  %%o0 = phi i32 [ %%fm, %%fast ], [ %%a, %%slow ]\n"
            "  %%o1 = phi i32 [ %%f1, %%fast ], [ %%b, %%slow ]\n"
            "  %%s2 = call i1 @g%u_one(ptr %%ctx, i32 %%y, i32 %%z, i32 %%o0, i32 %%o1)\n"
            "  br i1 %%s2, label %%finish, label %%ranged\n"
            "ranged:\n"
            "  %%again = icmp ult i32 %%b, %%x1\n  br i1 %%again, label %%ranges, label %%count\n",
            number, CHUNK, number, width - 1, number, number);
    }
    vyre_text_printf(
        t,
        "count:\n"
        "  %%f = load i64, ptr %%fuel\n  %%cost = mul i64 %%n, 256\n"
        "  %%g = sub i64 %%f, %%cost\n  store i64 %%g, ptr %%fuel\n"
        "  %%empty = icmp slt i64 %%g, 0\n  br i1 %%empty, label %%look, label %%next\n"
        "look:\n"
        "  %%at_check = getelementptr i8, ptr %%ctx, i64 %zu\n"
        "  %%check = load ptr, ptr %%at_check\n  %%k = call i32 %%check(ptr %%ctx)\n"
        "  %%over = icmp ne i32 %%k, 0\n  br i1 %%over, label %%finish, label %%next\n"
        "next:\n  br label %%units\n"
        "finish:\n  ret void\n}\n\n",
        CPU_FIELD(check));
}

vyre_status cpu_write_rows(cpu_writer *w, cpu_group *group, uint32_t number, vyre_diag *diag) {
    static const uint32_t natural[CPU_ISA_COUNT] = {4, 8, 16};
    const vyre_program_view *p = vyre_program_get(group->program);
    const bool atomics = p->stats.stmt_kinds >> VYRE_STMT_ATOMIC & 1;
    const bool traps = p->stats.stmt_kinds >> VYRE_STMT_TRAP & 1;
    uint32_t width = w->gang ? w->gang : atomics || traps ? 1 : natural[w->isa];
    char name[48];
    cpu_emit e;
    vyre_status status = cpu_part_begin(w, group, 0, &e, diag);
    if (status != VYRE_OK) {
        return status;
    }
    e.form = CPU_FORM_ROWS;
    e.guards = vyre_alloc_zeroed(w->a, p->stmt_count, sizeof *e.guards);
    if (!e.guards) {
        cpu_part_end(w, &e);
        return vyre_fail_memory(diag, "a segment");
    }
    if (width > 1 && !write_fast(w, &e, number, width)) {
        width = 1;
    }
    e.width = 1;
    e.trusts = false;
    e.lists = w->lists;
    w->lists += 1 + 3 * p->decl_count;
    cpu_part_forget(&e);
    cpu_part_settle(&e, cpu_emit_range);
    (void)snprintf(name, sizeof name, "g%u_one", number);
    cpu_part_write(w, &e, name, range_arguments);
    write_run(w->out, number, p, width);
    group->form = CPU_FORM_ROWS;
    group->chunk = CHUNK;
    group->width = width;
    vyre_free(w->a, e.guards, p->stmt_count, sizeof *e.guards);
    cpu_part_end(w, &e);
    return VYRE_OK;
}
