/* Carry: what each block uses and sets, in the order of its statements, and from what the schedule
 * computes its scalars. What the statements do to memory is told by the columns of ops.def. */
#include "ir/rewrite.h"
#include "ir/touches.h"
#include "split/carry_analyst.h"

typedef vyre_carry_analyst analyst;

static void use(analyst *an, uint32_t block, uint32_t entity) {
    uint32_t before = vyre_presence_add(&an->found, entity, block, VYRE_TOUCHES);
    if (!(before & VYRE_KILLS)) {
        (void)vyre_presence_add(&an->found, entity, block, VYRE_USES);
    }
}

static void set(analyst *an, uint32_t block, uint32_t entity, bool always) {
    uint32_t kills = always ? VYRE_KILLS : 0;
    (void)vyre_presence_add(&an->found, entity, block, VYRE_TOUCHES | VYRE_MODIFIES | kills);
}

/* The schedule sets it; no lane does. */
static void set_by_control(analyst *an, uint32_t block, uint32_t entity) {
    (void)vyre_presence_add(&an->found, entity, block, VYRE_KILLS);
}

/* The schedule computes `user` (VYRE_NONE: the condition) from the value. */
static void need(analyst *an, uint32_t block, uint32_t user, uint32_t operand) {
    uint32_t before = vyre_presence_add(&an->found, operand, block, 0);
    bool at_start = !(before & VYRE_KILLS);
    vyre_needs_add(&an->needs, user, operand, block, at_start);
}

static void need_exprs(analyst *an, uint32_t block, uint32_t user, vyre_expr first, vyre_expr end) {
    for (vyre_expr e = first; e < end; e++) {
        if (an->p->exprs[e].op == VYRE_EXPR_VAR) {
            need(an, block, user, an->p->exprs[e].ref);
        }
    }
}

static void use_memory(analyst *an, uint32_t block, vyre_decl decl) {
    uint32_t entity = vyre_entity_of_decl(an->plan, decl);
    if (vyre_overwrites_is_new(&an->overwrites, decl, an->at)) {
        (void)vyre_presence_add(&an->found, entity, block, VYRE_TOUCHES);
    } else {
        use(an, block, entity);
    }
}

static void use_exprs(analyst *an, uint32_t block, vyre_expr first, vyre_expr end) {
    for (vyre_expr e = first; e < end; e++) {
        const vyre_expr_node *n = &an->p->exprs[e];
        if (n->op == VYRE_EXPR_VAR) {
            use(an, block, n->ref);
        } else if (n->op == VYRE_EXPR_LOAD && vyre_carry_is_local(an, n->ref)) {
            use_memory(an, block, n->ref);
        }
    }
}

static void define(analyst *an, uint32_t entity, vyre_expr value) {
    an->definitions[entity]++;
    an->definition[entity] = value;
}

static void touch_memory(analyst *an, uint32_t block, vyre_decl decl, uint32_t touches) {
    if (decl == VYRE_NONE || !vyre_carry_is_local(an, decl)) {
        return;
    }
    if (touches & VYRE_TOUCHES_READ) {
        use_memory(an, block, decl);
    }
    if (touches & VYRE_TOUCHES_WRITE) {
        set(an, block, vyre_entity_of_decl(an->plan, decl), false);
    }
}

static void scan_stmt(analyst *an, uint32_t block, vyre_stmt s, uint32_t depth) {
    const vyre_stmt_node *n = &an->p->stmts[s];
    uint32_t bits = vyre_scalars_bits(an->scalars, VYRE_ITEM_RANGE, s);
    if (bits & VYRE_BY_CONTROL) {
        need_exprs(an, block, n->var, n->first_expr, n->end_expr);
    }
    if (n->var != VYRE_NONE) {
        bool is_value = n->op == VYRE_STMT_LET || n->op == VYRE_STMT_ASSIGN;
        define(an, n->var, is_value ? n->arg[0] : VYRE_NONE);
    }
    if (bits & VYRE_NOT_BY_LANES) {
        set_by_control(an, block, n->var);
        return;
    }
    use_exprs(an, block, n->first_expr, n->end_expr);
    if (n->var != VYRE_NONE) {
        bool always = depth == 0 || n->op != VYRE_STMT_ASSIGN || bits & VYRE_BY_CONTROL;
        set(an, block, n->var, always);
    }
    touch_memory(an, block, n->decl, vyre_touches_first(n));
    touch_memory(an, block, n->decl2, vyre_touches_second(n));
    if (vyre_is_delivered_later(n->op)) {
        vyre_type type = (vyre_type)an->p->decls[n->decl2].type;
        an->plan->entities[vyre_entity_of_decl(an->plan, n->decl2)].raw =
            type == VYRE_BOOL || type == VYRE_F16 || type == VYRE_BF16;
    }
}

/* Memory that is set as a whole is new up to the end of its statement list; in that of the block
 * itself, for good. Plain braces end no list: who comes in goes out. */
static void scan_overwrites(analyst *an, uint32_t block, vyre_stmt s) {
    uint32_t depth = an->open.count;
    while (depth > 0 && an->p->stmts[an->open.data[depth - 1]].op == VYRE_STMT_BLOCK) {
        depth--;
    }
    vyre_stmt end = depth > 0 ? an->p->stmts[an->open.data[depth - 1]].match : VYRE_NONE;
    vyre_overwrites_look(&an->overwrites, s, depth > 0 ? end : an->p->stmt_count + block);
    for (uint32_t i = 0; i < an->overwrites.found.count; i++) {
        vyre_decl d = an->overwrites.found.data[i];
        if (!vyre_carry_is_local(an, d)) {
            continue;
        }
        if (depth == 0) {
            set(an, block, vyre_entity_of_decl(an->plan, d), true);
        } else if (!vyre_overwrites_is_new(&an->overwrites, d, s)) {
            an->overwrites.memory[d].new_from = s;
            an->overwrites.memory[d].new_to = end;
        }
    }
}

static void scan_range(analyst *an, uint32_t block, const vyre_item *item) {
    for (vyre_stmt s = item->begin; s < item->end; s++) {
        vyre_scope scope = (vyre_scope)vyre_stmt_info_of((vyre_stmt_op)an->p->stmts[s].op)->scope;
        an->open.count -= scope == VYRE_SCOPE_END || scope == VYRE_SCOPE_ELSE;
        an->at = s;
        scan_stmt(an, block, s, an->open.count);
        scan_overwrites(an, block, s);
        if ((scope == VYRE_SCOPE_OPEN || scope == VYRE_SCOPE_ELSE) &&
            !vyre_vec_push(an->a, &an->open, s)) {
            an->found.failed = true;
            break;
        }
    }
    an->at = VYRE_NONE;
    an->found.failed |= an->overwrites.failed;
}

typedef struct loop_values {
    uint32_t var, to, step, more;
} loop_values;

static loop_values values_of(const analyst *an, vyre_stmt s) {
    uint32_t loop = an->blocks->loop_of[s];
    return (loop_values){.var = an->p->stmts[s].var,
                         .to = vyre_entity_of_loop(an->plan, loop, VYRE_LOOP_TO),
                         .step = vyre_entity_of_loop(an->plan, loop, VYRE_LOOP_STEP),
                         .more = vyre_entity_of_loop(an->plan, loop, VYRE_LOOP_MORE)};
}

/* What the schedule computes of a loop's values, and from what. */
static void need_loop(analyst *an, uint32_t block, const vyre_item *item, loop_values v) {
    const vyre_stmt_node *n = &an->p->stmts[item->begin];
    const uint32_t users[3] = {v.var, v.to, v.step};
    for (int i = 0; i < 3 && item->kind == VYRE_ITEM_FOR_INIT; i++) {
        if (n->arg[i] != VYRE_NONE) {
            need_exprs(an, block, users[i], vyre_expr_first(an->p, n->arg[i]), n->arg[i] + 1);
        }
    }
    for (int i = 0; i < 3 && item->kind == VYRE_ITEM_FOR_INIT; i++) {
        set_by_control(an, block, users[i]); /* its own values are not those from before */
    }
    need(an, block, v.more, v.var);
    if (item->kind == VYRE_ITEM_FOR_STEP) {
        need(an, block, v.var, v.var);
    }
    if (!vyre_loop_is_leaf(an->p, item->begin, VYRE_LOOP_TO)) {
        need(an, block, v.more, v.to);
    }
    if (!vyre_loop_is_leaf(an->p, item->begin, VYRE_LOOP_STEP)) {
        need(an, block, v.more, v.step);
        need(an, block, v.var, v.step);
    }
}

static void scan_loop(analyst *an, uint32_t block, const vyre_item *item) {
    const vyre_stmt_node *n = &an->p->stmts[item->begin];
    uint32_t bits = vyre_scalars_bits(an->scalars, item->kind, item->begin);
    loop_values v = values_of(an, item->begin);
    bool is_init = item->kind == VYRE_ITEM_FOR_INIT, by_lanes = !(bits & VYRE_NOT_BY_LANES);
    if (by_lanes) { /* only where a loop begins */
        use_exprs(an, block, n->first_expr, n->end_expr);
    }
    if (bits & VYRE_BY_CONTROL) {
        need_loop(an, block, item, v);
    }
    if (is_init) {
        define(an, v.to, n->arg[1]);
        define(an, v.step, n->arg[2]);
    }
    define(an, v.var, VYRE_NONE);
    define(an, v.more, VYRE_NONE);
    an->definitions[v.var]++; /* never recomputed: it changes from trip to trip */
    an->definitions[v.more]++;
    const uint32_t set_here[] = {v.var, v.more, v.to, v.step};
    for (uint32_t i = 0; i < (is_init ? 4u : 2u); i++) {
        if (by_lanes) {
            set(an, block, set_here[i], true);
        } else {
            set_by_control(an, block, set_here[i]);
        }
    }
}

static void scan_condition(analyst *an, uint32_t number) {
    const vyre_block *b = &an->blocks->list.data[number];
    const vyre_stmt_node *n = &an->p->stmts[b->condition];
    if (n->op == VYRE_STMT_FOR) {
        uint32_t loop = an->blocks->loop_of[b->condition];
        need(an, number, VYRE_NONE, vyre_entity_of_loop(an->plan, loop, VYRE_LOOP_MORE));
    } else if (an->scalars->decided[number]) {
        need_exprs(an, number, VYRE_NONE, n->first_expr, n->end_expr);
    } else {
        use_exprs(an, number, n->first_expr, n->end_expr);
    }
}

static void scan_block(analyst *an, uint32_t number) {
    const vyre_block *b = &an->blocks->list.data[number];
    an->found.failed |= !vyre_scalars_block(an->scalars, number);
    for (uint32_t i = b->first; i != VYRE_NONE; i = an->blocks->items.data[i].next) {
        const vyre_item *item = &an->blocks->items.data[i];
        if (item->kind != VYRE_ITEM_RANGE) {
            scan_loop(an, number, item);
            continue;
        }
        scan_range(an, number, item);
    }
    if (b->exit == VYRE_EXIT_BRANCH) {
        scan_condition(an, number);
    }
    for (uint32_t i = 0; i < an->scalars->made.count; i++) {
        (void)vyre_presence_add(&an->found, an->scalars->made.data[i], number, VYRE_MADE);
    }
}

void vyre_carry_scan(analyst *an) {
    for (uint32_t b = 0; b < an->blocks->list.count; b++) {
        scan_block(an, b);
    }
}
