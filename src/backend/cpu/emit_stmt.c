/* Statements. Lists are linear, so one walk with a stack of open scopes emits them. Labels of a
 * scope: elseN, endN (its end is reached), headN (a loop's test), contN (the end of a trip), outN
 * (behind it). */
#include <stdio.h>

#include "backend/cpu/emit.h"

/* Variables. */

static bool is_loop(const cpu_emit *e, const cpu_scope *scope) {
    const uint8_t op = e->p->stmts[scope->opener].op;
    return op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE;
}

/* Whether a loop has trips that lanes leave early and are back in the next one. */
static bool has_continue(const cpu_emit *e, vyre_stmt loop) {
    bool has = false;
    for (vyre_stmt i = loop + 1; i < e->p->stmts[loop].match; i++) {
        has |= e->p->stmts[i].op == VYRE_STMT_CONTINUE;
    }
    return has;
}

/* Whether lanes that are not active here keep what they have of a variable. They need not if all
 * that they are not active for is that they left the loop that has all uses of it: they will not
 * look at it again, unless a loop around brings them back behind its binding. */
static bool keeps_others(const cpu_emit *e, vyre_var var) {
    const cpu_extent *x = &e->extents[var];
    if (e->depths[var] >= e->depth || e->width == 1) {
        return false;
    }
    uint32_t at = e->scope_count;
    while (at > 0 && !e->scopes[at - 1].parts) {
        at--;
    }
    const vyre_stmt loop = at > 0 ? e->scopes[at - 1].opener : VYRE_NONE;
    if (loop == VYRE_NONE || !is_loop(e, &e->scopes[at - 1]) || e->depth - e->depths[var] != 1 ||
        x->let == VYRE_NONE || x->first < loop || has_continue(e, loop) ||
        x->last > e->p->stmts[loop].match) {
        return true;
    }
    bool comes_back = false;
    for (uint32_t i = 0; i + 1 < at; i++) {
        comes_back |= is_loop(e, &e->scopes[i]) && e->scopes[i].opener > x->let;
    }
    return comes_back;
}

static void raise(cpu_emit *e, vyre_var var, const cpu_value *value) {
    uint8_t hold = value->hold;
    int32_t stride = value->hold == CPU_LINEAR ? value->stride : 0;
    if (keeps_others(e, var)) {
        hold = CPU_EACH;
    }
    if (!e->started[var]) {
        e->started[var] = true;
    } else if (e->strides[var] != stride && hold != CPU_EACH) {
        hold = CPU_EACH; /* ONE here and LINEAR there, or two strides */
    }
    if (hold < e->holds[var]) {
        return;
    }
    if (hold != e->holds[var] || (hold == CPU_LINEAR && stride != e->strides[var])) {
        e->changed = true;
        e->holds[var] = hold;
        e->strides[var] = hold == CPU_LINEAR ? stride : 0;
    }
}

/* The name of its place, in the gang at work. */
static void place_of(const cpu_emit *e, vyre_var var, char *out, size_t size) {
    if (e->gangs > 1 && e->differs[var]) {
        (void)snprintf(out, size, "%%x%u_%u", var, e->gang);
    } else {
        (void)snprintf(out, size, "%%x%u", var);
    }
}

static void need_place(cpu_emit *e, vyre_var var) {
    if (e->has_place[var]) {
        return;
    }
    e->has_place[var] = true;
    if (e->form == CPU_FORM_CONTROL) {
        cpu_head(e, "  %%x%u = getelementptr i8, ptr %%scalars, i64 %u", var, 8 * var);
        return;
    }
    const char *type = cpu_type(e, (vyre_type)e->p->vars[var].type, e->holds[var] == CPU_EACH);
    cpu_head(e, "  %%x%u = alloca %s", var, type);
    for (uint32_t g = 0; g < e->gangs && e->gangs > 1 && e->differs[var]; g++) {
        cpu_head(e, "  %%x%u_%u = alloca %s", var, g, type);
    }
}

/* Variables that only a LET binds need no place: its value stands wherever they do. */
static bool is_bound(const cpu_emit *e, vyre_var var) {
    return e->is_single[var] && e->form != CPU_FORM_CONTROL && !(e->gangs > 1 && e->differs[var]);
}

cpu_value cpu_get(cpu_emit *e, vyre_var var) {
    const vyre_type type = (vyre_type)e->p->vars[var].type;
    const cpu_hold hold = (cpu_hold)e->holds[var];
    char place[28];
    cpu_value lanes;
    if (is_bound(e, var)) {
        return e->bound[var];
    }
    if (cpu_across_get(e, var, &lanes)) {
        return lanes;
    }
    if (e->probing && (e->opaque[var] || hold == CPU_EACH)) {
        return cpu_unknown(type);
    }
    need_place(e, var);
    place_of(e, var, place, sizeof place);
    cpu_value v =
        cpu_new(e, type, hold, "load %s, ptr %s", cpu_type(e, type, hold == CPU_EACH), place);
    v.stride = hold == CPU_LINEAR ? e->strides[var] : 0;
    return v;
}

/* Probing: whether the variable's value is not known here as code that runs has it. */
static bool is_hidden(cpu_emit *e, vyre_var var, const cpu_value *value) {
    const bool same = value->hold == e->holds[var] && value->hold != CPU_EACH &&
                      (value->hold == CPU_ONE || value->stride == e->strides[var]);
    if (!e->opaque[var] && (!same || e->depths[var] < e->depth)) {
        e->opaque[var] = true;
        e->changed = true;
    }
    return e->opaque[var];
}

void cpu_set(cpu_emit *e, vyre_var var, cpu_value value, bool binds) {
    if (is_bound(e, var)) {
        e->bound[var] = value;
        return;
    }
    if (cpu_across_set(e, var, value)) {
        return;
    }
    if (binds) {
        e->depths[var] = (uint16_t)e->depth;
    }
    if (e->probing) {
        if (is_hidden(e, var, &value)) {
            return;
        }
    } else {
        raise(e, var, &value);
    }
    need_place(e, var);
    const bool each = e->holds[var] == CPU_EACH;
    if (each) {
        value = cpu_each(e, value);
    } else if (value.hold == CPU_EACH) {
        return; /* this round is void */
    }
    if (each && keeps_others(e, var)) {
        cpu_value old = cpu_get(e, var);
        value = cpu_select(e, cpu_active(e), value, old);
    }
    char place[28];
    place_of(e, var, place, sizeof place);
    cpu_line(e, "  store %s %s, ptr %s", cpu_type(e, (vyre_type)value.type, each), value.text,
             place);
}

/* Masks. */

static void set_active(cpu_emit *e, cpu_value mask) {
    cpu_put_mask(e, "act", 0, mask);
}

static cpu_value complement(cpu_emit *e, cpu_value mask) {
    return cpu_binary(e, "xor", (vyre_type)mask.type, mask, cpu_mask_of(e, true));
}

static cpu_value both(cpu_emit *e, cpu_value x, cpu_value y) {
    return cpu_binary(e, "and", (vyre_type)x.type, x, y);
}

/* Those of the active lanes stay that have the condition; gives whether there are any. */
static cpu_value narrow_active(cpu_emit *e, cpu_value condition) {
    cpu_value mask = both(e, cpu_mask_at(e, "act", 0), cpu_mask(e, condition));
    set_active(e, mask);
    return cpu_any_in(e, mask);
}

/* The mask without the lanes that a place remembers. */
static cpu_value without(cpu_emit *e, cpu_value mask, const char *place, uint32_t label) {
    return both(e, mask, complement(e, cpu_mask_at(e, place, label)));
}

static cpu_scope *innermost_loop(cpu_emit *e) {
    for (uint32_t i = e->scope_count; i-- > 0;) {
        const uint8_t op = e->p->stmts[e->scopes[i].opener].op;
        if (op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE) {
            return &e->scopes[i];
        }
    }
    return NULL;
}

/* Where one goes when nobody is active: the end of the innermost open list. */
static void end_label(const cpu_emit *e, char *out, size_t size) {
    const cpu_scope *s = e->scope_count ? &e->scopes[e->scope_count - 1] : NULL;
    if (!s) {
        (void)snprintf(out, size, "gang_end");
    } else {
        const bool others = s->parts && s->has_else && !s->in_else; /* who did not take this arm */
        (void)snprintf(out, size, "%s%u",
                       is_loop(e, s) ? "cont"
                       : others      ? "else"
                                     : "end",
                       s->label);
    }
}

/* Goes on only if somebody is active. */
static void need_somebody(cpu_emit *e) {
    char end[24];
    const uint32_t label = cpu_label(e);
    end_label(e, end, sizeof end);
    cpu_line(e, "  br i1 %s, label %%some%u, label %%%s",
             cpu_any_in(e, cpu_mask_at(e, "act", 0)).text, label, end);
    cpu_line(e, "some%u:", label);
}

/* The active lanes leave; `place` remembers them. */
static void leave_masked(cpu_emit *e, const char *place, uint32_t label, const cpu_scope *until) {
    char end[24];
    cpu_value old = cpu_mask_at(e, place, label);
    cpu_value now = cpu_binary(e, "or", (vyre_type)old.type, old, cpu_mask_at(e, "act", 0));
    cpu_put_mask(e, place, label, now);
    set_active(e, cpu_mask_of(e, false));
    for (uint32_t i = e->scope_count; i-- > 0;) {
        e->scopes[i].left = true;
        if (&e->scopes[i] == until) {
            break;
        }
    }
    end_label(e, end, sizeof end);
    cpu_line(e, "  br label %%%s", end);
    cpu_line(e, "dead%u:", cpu_label(e));
}

static void jump(cpu_emit *e, const char *name, uint32_t label) {
    if (label) {
        cpu_line(e, "  br label %%%s%u", name, label);
    } else {
        cpu_line(e, "  br label %%%s", name);
    }
    cpu_line(e, "dead%u:", cpu_label(e));
}

static void emit_break(cpu_emit *e, bool goes_on) {
    cpu_scope *loop = innermost_loop(e);
    /* Lanes part between the loop and here. */
    bool apart = false;
    for (cpu_scope *s = loop + 1; s < e->scopes + e->scope_count; s++) {
        apart |= s->parts;
    }
    if (apart && !e->parts[loop->opener]) {
        e->parts[loop->opener] = true;
        e->changed = true;
    }
    if (!loop->parts) {
        jump(e, goes_on ? "cont" : "out", loop->label);
        return;
    }
    leave_masked(e, goes_on ? "skip" : "gone", loop->label, loop);
}

static void emit_exit(cpu_emit *e) {
    if (e->width == 1 || (e->depth == 0 && !e->masked_tail && !e->may_end)) {
        jump(e, "gang_end", 0);
        return;
    }
    if (e->depth == 0) { /* all that are left */
        jump(e, "gang_end", 0);
        return;
    }
    if (!e->may_end) {
        e->may_end = true;
        e->changed = true;
    }
    leave_masked(e, "ended", 0, NULL);
}

/* Records the lowest lane that trapped, if it is lower than the one that is known. */
void cpu_emit_trap(cpu_emit *e, vyre_stmt stmt) {
    const vyre_stmt_node *s = &e->p->stmts[stmt];
    const uint32_t label = cpu_label(e);
    cpu_value address = cpu_operand(e, s, 0), lane = e->lane;
    if (e->width > 1) {
        char first[28] = "0";
        if (cpu_is_masked(e)) {
            cpu_value bits = cpu_new(e, VYRE_U32, CPU_ONE, "bitcast <%u x i1> %s to i%u", e->width,
                                     cpu_active(e).text, e->width);
            cpu_value at = cpu_new(e, VYRE_U32, CPU_ONE, "call i%u @llvm.cttz.i%u(i%u %s, i1 true)",
                                   e->width, e->width, e->width, bits.text);
            if (e->width != 32) {
                at = cpu_new(e, VYRE_U32, CPU_ONE, "%s i%u %s to i32",
                             e->width < 32 ? "zext" : "trunc", e->width, at.text);
            }
            (void)snprintf(first, sizeof first, "%s", at.text);
        }
        lane = cpu_extract(e, lane, first);
        address = cpu_extract(e, address, first);
    }
    cpu_value number;
    if (e->form == CPU_FORM_ROWS) {
        number = cpu_rows_lane(e, lane);
    } else {
        number = cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i64", lane.text);
        number = cpu_new(e, VYRE_U64, CPU_ONE, "add i64 %s, %%first", number.text);
    }
    cpu_value wide = address.type == VYRE_U64 || address.type == VYRE_I64
                         ? address
                         : cpu_new(e, VYRE_U64, CPU_ONE, "zext i32 %s to i64", address.text);
    cpu_value place =
        cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr i8, ptr %%ctx, i64 %zu", CPU_FIELD(trap_lane));
    cpu_value known = cpu_new(e, VYRE_U64, CPU_ONE, "load i64, ptr %s", place.text);
    cpu_value lower =
        cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp %s i64 %s, %s", "ult", number.text, known.text);
    cpu_line(e, "  br i1 %s, label %%trap%u, label %%trapped%u", lower.text, label, label);
    cpu_line(e, "trap%u:", label);
    cpu_line(e, "  store i64 %s, ptr %s", number.text, place.text);
    cpu_value to = cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr i8, ptr %%ctx, i64 %zu",
                           CPU_FIELD(trap_address));
    cpu_line(e, "  store i64 %s, ptr %s", wide.text, to.text);
    to =
        cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr i8, ptr %%ctx, i64 %zu", CPU_FIELD(trap_site));
    cpu_line(e, "  store i64 %llu, ptr %s", (unsigned long long)((uint64_t)e->segment << 32 | stmt),
             to.text);
    cpu_line(e, "  br label %%trapped%u", label);
    cpu_line(e, "trapped%u:", label);
}

/* Scopes. */

static cpu_scope *open_scope(cpu_emit *e, vyre_stmt stmt) {
    cpu_scope *scope = &e->scopes[e->scope_count++];
    *scope = (cpu_scope){.opener = stmt, .label = cpu_label(e)};
    for (uint32_t i = 0; is_loop(e, scope) && i + 1 < e->scope_count; i++) {
        e->scopes[i].has_loop = true;
    }
    return scope;
}

uint32_t cpu_open_scope(cpu_emit *e, vyre_stmt stmt) {
    return open_scope(e, stmt)->label;
}

/* Lanes part at the scope, which has just been opened. */
static void part(cpu_emit *e, cpu_scope *scope) {
    scope->parts = true;
    scope->saved = cpu_mask_at(e, "act", 0);
    e->depth++;
}

/* Behind a scope that parted: all are active again that were before and are still there. */
static void rejoin(cpu_emit *e, const cpu_scope *scope) {
    cpu_value mask = scope->saved;
    e->depth--;
    if (e->may_end) {
        mask = without(e, mask, "ended", 0);
    }
    const cpu_scope *loop = innermost_loop(e); /* the scope itself is closed already */
    if (loop && loop->parts) {
        mask = without(e, mask, "gone", loop->label);
        mask = without(e, mask, "skip", loop->label);
    }
    set_active(e, mask);
}

/* Whether all that a condition decides is what a few variables become, or elements that lanes have
 * for themselves: computing both and choosing costs less than a branch that can't be foreseen. */
static bool only_chooses(const cpu_emit *e, vyre_stmt stmt) {
    enum { FEW = 12 }; /* nodes */
    const vyre_program_view *p = e->p;
    const vyre_stmt match = p->stmts[stmt].match;
    const vyre_stmt end = p->stmts[match].op == VYRE_STMT_ELSE ? p->stmts[match].match : match;
    bool plain = p->stmts[end - 1].end_expr <= p->stmts[stmt].end_expr + FEW;
    for (vyre_stmt i = stmt + 1; i < end && plain; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        plain = s->op == VYRE_STMT_LET || s->op == VYRE_STMT_ASSIGN || s->op == VYRE_STMT_ELSE ||
                cpu_blends_always(e, i);
        for (vyre_expr k = s->first_expr; k < s->end_expr && plain; k++) {
            const uint8_t op = p->exprs[k].op;
            plain = op != VYRE_EXPR_LOAD && op != VYRE_EXPR_DIV && op != VYRE_EXPR_REM &&
                    op != VYRE_EXPR_SQRT;
        }
    }
    return plain;
}

static void emit_if(cpu_emit *e, vyre_stmt stmt, cpu_value condition) {
    cpu_scope *s = open_scope(e, stmt);
    s->has_else = e->p->stmts[e->p->stmts[stmt].match].op == VYRE_STMT_ELSE;
    const char *otherwise = s->has_else ? "else" : "end";
    cpu_value test = condition;
    if (cpu_chooses_place(e, stmt, &condition)) {
        cpu_note(e, stmt, "if",
                 "stores go to a place that nobody reads where it is false because data decides");
        e->when = condition;
        test = cpu_literal(VYRE_BOOL, 1);
    }
    if (condition.hold != CPU_ONE) {
        cpu_note(e, stmt, "if", "masked because not all of %u lanes take the same way", e->width);
        part(e, s);
        s->taken = cpu_mask(e, condition);
        cpu_value mask = both(e, s->saved, s->taken);
        set_active(e, mask);
        test = only_chooses(e, stmt) ? cpu_literal(VYRE_BOOL, 1) : cpu_any_in(e, mask);
    }
    cpu_line(e, "  br i1 %s, label %%then%u, label %%%s%u", test.text, s->label, otherwise,
             s->label);
    cpu_line(e, "then%u:", s->label);
}

static void emit_else(cpu_emit *e) {
    cpu_scope *s = &e->scopes[e->scope_count - 1];
    s->in_else = true;
    cpu_line(e, "  br label %%%s%u", s->parts ? "else" : "end", s->label);
    cpu_line(e, "else%u:", s->label);
    if (s->parts) {
        cpu_value mask = both(e, s->saved, complement(e, s->taken));
        set_active(e, mask);
        cpu_value test =
            only_chooses(e, s->opener) ? cpu_literal(VYRE_BOOL, 1) : cpu_any_in(e, mask);
        cpu_line(e, "  br i1 %s, label %%elsewhere%u, label %%end%u", test.text, s->label,
                 s->label);
        cpu_line(e, "elsewhere%u:", s->label);
    }
}

static void close_scope(cpu_emit *e, const cpu_scope *s) {
    if (s->parts) {
        rejoin(e, s);
    }
    if (s->left) {
        need_somebody(e);
    }
}

static void emit_end_of_list(cpu_emit *e) {
    const cpu_scope s = e->scopes[--e->scope_count];
    e->when.text[0] = '\0'; /* what such a list has in it is stores */
    cpu_line(e, "  br label %%end%u", s.label);
    cpu_line(e, "end%u:", s.label);
    close_scope(e, &s);
}

/* Trips are counted, in a variable that LLVM keeps in a register; now and then the clock is looked
 * at. */
void cpu_emit_check(cpu_emit *e, const char *amount) {
    const uint32_t label = cpu_label(e);
    cpu_value fuel = cpu_new(e, VYRE_U64, CPU_ONE, "load i64, ptr %%fuel");
    fuel = cpu_new(e, VYRE_U64, CPU_ONE, "sub i64 %s, %s", fuel.text, amount);
    cpu_line(e, "  store i64 %s, ptr %%fuel", fuel.text);
    cpu_value left = cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp sge i64 %s, 0", fuel.text);
    cpu_line(e, "  br i1 %s, label %%looked%u, label %%look%u, !prof !0", left.text, label, label);
    cpu_line(e, "look%u:", label);
    cpu_value field =
        cpu_new(e, VYRE_U64, CPU_ONE, "getelementptr i8, ptr %%ctx, i64 %zu", CPU_FIELD(check));
    cpu_value function = cpu_new(e, VYRE_U64, CPU_ONE, "load ptr, ptr %s", field.text);
    cpu_value stop = cpu_new(e, VYRE_U32, CPU_ONE, "call i32 %s(ptr %%ctx)", function.text);
    cpu_value is = cpu_new(e, VYRE_BOOL, CPU_ONE, "icmp ne i32 %s, 0", stop.text);
    cpu_line(e, "  br i1 %s, label %%stop, label %%refuel%u", is.text, label);
    cpu_line(e, "refuel%u:", label);
    cpu_line(e, "  store i64 %d, ptr %%fuel", CPU_FUEL);
    cpu_line(e, "  br label %%looked%u", label);
    cpu_line(e, "looked%u:", label);
}

/* A loop that parts keeps two masks: who has left it, and who has left the present trip. */
static void begin_loop(cpu_emit *e, cpu_scope *s) {
    if (!s->parts) {
        return;
    }
    cpu_need_mask(e, "gone", s->label);
    cpu_need_mask(e, "skip", s->label);
    cpu_put_mask(e, "gone", s->label, cpu_mask_of(e, false));
}

static void begin_trip(cpu_emit *e, cpu_scope *s) {
    if (s->parts) {
        s->trip = cpu_mask_at(e, "act", 0);
        cpu_put_mask(e, "skip", s->label, cpu_mask_of(e, false));
    }
}

/* The test of a loop: who passes it goes on to bodyN, the others are gone. */
static void test_loop(cpu_emit *e, const cpu_scope *s, cpu_value passes) {
    cpu_value test = passes;
    if (s->parts) {
        test = narrow_active(e, passes);
    }
    cpu_line(e, "  br i1 %s, label %%body%u, label %%out%u", test.text, s->label, s->label);
    cpu_line(e, "body%u:", s->label);
}

static void note_parting(cpu_emit *e, vyre_stmt loop, const cpu_value *condition) {
    if (condition->hold != CPU_ONE && !e->parts[loop]) {
        e->parts[loop] = true;
        e->changed = true;
    }
}

void cpu_note_loop(const cpu_emit *e, vyre_stmt loop) {
    if (e->parts[loop]) {
        cpu_note(e, loop, "loop",
                 "lanes that are done wait, masked, for the others of their %u because trips vary "
                 "%s",
                 e->width,
                 cpu_loads_close(e, loop) ? "and all they load is in the nearest cache"
                                          : "from lane to lane");
    } else if (e->width > 1) {
        cpu_note(e, loop, "loop",
                 "one loop for %u lanes because its trips are the same for all of them", e->width);
    } else {
        cpu_note(e, loop, "loop", "a loop of one lane because lanes run one after another");
    }
}

static void emit_while(cpu_emit *e, vyre_stmt stmt) {
    const vyre_stmt_node *n = &e->p->stmts[stmt];
    cpu_scope *s = open_scope(e, stmt);
    cpu_note_loop(e, stmt);
    if (e->parts[stmt]) {
        part(e, s);
    }
    begin_loop(e, s);
    cpu_line(e, "  br label %%head%u", s->label);
    cpu_line(e, "head%u:", s->label);
    cpu_emit_exprs(e, n->first_expr, n->end_expr);
    cpu_value condition = cpu_truth(e, cpu_operand(e, n, 0));
    note_parting(e, stmt, &condition);
    if (!s->parts && condition.hold != CPU_ONE) {
        condition = cpu_literal(VYRE_BOOL, 0); /* this round is void */
    }
    test_loop(e, s, condition);
    begin_trip(e, s);
}

void cpu_open_for(cpu_emit *e, vyre_stmt stmt, cpu_value from, cpu_value to, cpu_value step) {
    const vyre_stmt_node *n = &e->p->stmts[stmt];
    cpu_value first = cpu_apply(e, VYRE_EXPR_LT, from, to, to);
    if (!step.known || step.bits == 0) {
        cpu_value moves = cpu_apply(e, VYRE_EXPR_NE, step, cpu_u32(0), step);
        cpu_value pair[] = {first, moves};
        (void)cpu_together(e, pair, 2);
        first = both(e, pair[0], pair[1]);
    }
    note_parting(e, stmt, &first);
    note_parting(e, stmt, &step);
    cpu_scope *s = open_scope(e, stmt);
    cpu_note_loop(e, stmt);
    if (e->parts[stmt]) {
        part(e, s);
    } else if (first.hold != CPU_ONE) {
        first = cpu_literal(VYRE_BOOL, 0); /* this round is void */
    }
    s->to = to;
    s->step = step;
    begin_loop(e, s);
    if (step.hold == CPU_EACH) {
        from = cpu_each(e, from);
    }
    cpu_set(e, n->var, from, true);
    cpu_line(e, "  br label %%head%u", s->label);
    cpu_line(e, "head%u:", s->label);
    test_loop(e, s, first);
    cpu_line(e, "  br label %%trip%u", s->label);
    cpu_line(e, "trip%u:", s->label);
    begin_trip(e, s);
}

static void emit_for(cpu_emit *e, vyre_stmt stmt) {
    const vyre_stmt_node *n = &e->p->stmts[stmt];
    cpu_value step = n->arg[2] == VYRE_NONE ? cpu_u32(1) : cpu_flat(e, cpu_operand(e, n, 2));
    cpu_open_for(e, stmt, cpu_operand(e, n, 0), cpu_flat(e, cpu_operand(e, n, 1)), step);
}

/* The next value is a 32-bit sum: less than the last one if it passed 2^32, which ends the loop. */
static void next_of_for(cpu_emit *e, const cpu_scope *s) {
    const vyre_stmt_node *n = &e->p->stmts[s->opener];
    cpu_value now = cpu_get(e, n->var);
    cpu_value next = cpu_apply(e, VYRE_EXPR_ADD, now, s->step, now);
    cpu_value more = cpu_apply(e, VYRE_EXPR_LT, next, s->to, now);
    /* By steps of 1 the next value is at most the end. */
    if (!s->step.known || s->step.bits != 1) {
        cpu_value pair[] = {more, cpu_apply(e, VYRE_EXPR_GT, next, now, now)};
        (void)cpu_together(e, pair, 2);
        more = both(e, pair[0], pair[1]);
    }
    cpu_value test = more;
    if (s->parts) {
        test = narrow_active(e, more);
    } else if (more.hold != CPU_ONE) {
        test = cpu_literal(VYRE_BOOL, 0); /* this round is void */
    }
    const bool each = e->holds[n->var] == CPU_EACH;
    next = each ? cpu_each(e, next) : next;
    if (next.hold != CPU_EACH || each) {
        char place[28];
        place_of(e, n->var, place, sizeof place);
        cpu_line(e, "  store %s %s, ptr %s", cpu_type(e, VYRE_U32, each), next.text, place);
    }
    cpu_line(e, "  br i1 %s, label %%trip%u, label %%out%u", test.text, s->label, s->label);
}

/* Trips of a loop without loops inside that need no look at the clock. */
static bool is_short(const cpu_emit *e, const cpu_scope *s) {
    const vyre_stmt_node *n = &e->p->stmts[s->opener];
    return n->op == VYRE_STMT_FOR && s->to.known && s->to.bits <= CPU_SHORT && !s->has_loop;
}

static void emit_end_of_loop(cpu_emit *e) {
    const cpu_scope *s = &e->scopes[e->scope_count - 1];
    const bool counted = e->p->stmts[s->opener].op == VYRE_STMT_FOR;
    cpu_line(e, "  br label %%cont%u", s->label);
    cpu_line(e, "cont%u:", s->label);
    if (s->parts) { /* who skipped the rest of the trip is back */
        cpu_value mask = without(e, s->trip, "gone", s->label);
        set_active(e, e->may_end ? without(e, mask, "ended", 0) : mask);
    }
    if (s->left) {
        const uint32_t label = cpu_label(e);
        cpu_line(e, "  br i1 %s, label %%some%u, label %%out%u",
                 cpu_any_in(e, cpu_mask_at(e, "act", 0)).text, label, s->label);
        cpu_line(e, "some%u:", label);
    }
    if (!is_short(e, s)) {
        cpu_emit_check(e, "1");
    }
    if (counted) {
        next_of_for(e, s);
    } else {
        cpu_line(e, "  br label %%head%u", s->label);
    }
    cpu_line(e, "out%u:", s->label);
    const cpu_scope closed = *s;
    e->scope_count--;
    close_scope(e, &closed);
}

/* `if (c) { exit; }` as a guard: no lane that is left takes it. */
static bool leaves_by_guard(const cpu_emit *e, vyre_stmt stmt) {
    return stmt > e->p->entry && e->p->stmts[stmt - 1].op == VYRE_STMT_IF &&
           cpu_is_marked(e, cpu_stmt_site(e, stmt - 1), CPU_MARK_GUARD) &&
           e->p->stmts[stmt + 1].op == VYRE_STMT_END;
}

void cpu_emit_stmt(cpu_emit *e, vyre_stmt stmt) {
    const vyre_stmt_node *s = &e->p->stmts[stmt];
    const uint32_t site = cpu_stmt_site(e, stmt);
    e->stmt = stmt;
    if (s->op == VYRE_STMT_WHILE) {
        emit_while(e, stmt);
        return;
    }
    if (s->op == VYRE_STMT_IF && cpu_is_marked(e, site, CPU_MARK_GUARD)) {
        cpu_note(e, stmt, "if",
                 "clips the range of lanes, none is asked because the guard is linear in the lane");
        (void)open_scope(e, stmt); /* the condition holds */
        return;
    }
    e->thins = s->op == VYRE_STMT_STORE || (s->op == VYRE_STMT_LET && is_bound(e, s->var));
    cpu_emit_exprs(e, s->first_expr, s->end_expr);
    e->thins = false;
    switch ((vyre_stmt_op)s->op) {
    case VYRE_STMT_LET: cpu_set(e, s->var, cpu_operand(e, s, 0), true); break;
    case VYRE_STMT_ASSIGN: cpu_set(e, s->var, cpu_operand(e, s, 0), false); break;
    case VYRE_STMT_STORE:
        if (!cpu_append(e, s)) {
            cpu_store(e, s->decl, cpu_full(e, cpu_operand(e, s, 0)), cpu_operand(e, s, 1));
        }
        break;
    case VYRE_STMT_ATOMIC: cpu_emit_atomic(e, s); break;
    case VYRE_STMT_SUBGROUP: cpu_emit_subgroup(e, s); break;
    case VYRE_STMT_IF:
        emit_if(e, stmt, cpu_cut_condition(e, cpu_truth(e, cpu_operand(e, s, 0)), site));
        break;
    case VYRE_STMT_ELSE: emit_else(e); break;
    case VYRE_STMT_FOR: emit_for(e, stmt); break;
    case VYRE_STMT_BLOCK:
    case VYRE_STMT_REGION: (void)open_scope(e, stmt); break;
    case VYRE_STMT_END:
        if (is_loop(e, &e->scopes[e->scope_count - 1])) {
            emit_end_of_loop(e);
        } else {
            emit_end_of_list(e);
        }
        break;
    case VYRE_STMT_BREAK: emit_break(e, false); break;
    case VYRE_STMT_CONTINUE: emit_break(e, true); break;
    case VYRE_STMT_EXIT:
        if (!leaves_by_guard(e, stmt)) {
            emit_exit(e);
        }
        break;
    case VYRE_STMT_TRAP:
        cpu_emit_trap(e, stmt);
        emit_exit(e);
        break;
    case VYRE_STMT_INDIRECT_DISPATCH: /* the runtime has read the grid from it */
    /* Others are gone when the emitter sees a program. */
    case VYRE_STMT_WHILE:
    case VYRE_STMT_CALL:
    case VYRE_STMT_RETURN:
    case VYRE_STMT_BARRIER:
    case VYRE_STMT_GRID_SYNC:
    case VYRE_STMT_ASYNC_LOAD:
    case VYRE_STMT_ASYNC_STORE:
    case VYRE_STMT_ASYNC_WAIT:
    case VYRE_STMT_ALL_REDUCE:
    case VYRE_STMT_SWAP:
    case VYRE_STMT_ALL_GATHER:
    case VYRE_STMT_REDUCE_SCATTER:
    case VYRE_STMT_BROADCAST:
    case VYRE_STMT_GROUP:
    case VYRE_STMT_GRID:
    case VYRE_STMT_PART:
    case VYRE_STMT_COMBINE:
    case VYRE_STMT_BASE:
    case VYRE_STMT_COUNT: break;
    }
}
