/* The machine: statements by a program counter, expressions in order, each followed by its claims.
 * Symbols that are bound get their value where the header of ranges says; others are computed from
 * their operands whenever a form is evaluated, in 128 bits. */
#include "diff/range_machine.h"

#include "ir/fold.h"

enum {
    MOST_EXPRS = 4096,
    MOST_VARS = 512,
    MOST_SYMBOLS = 8192,
    MOST_LOOPS = 64,
    MOST_STMTS = 4096
};

typedef struct lane {
    range_machine *m;
    uint32_t local[3], group[3];
    uint64_t values[MOST_EXPRS]; /* last value of each expression */
    uint64_t vars[MOST_VARS];
    vyre_wide symbols[MOST_SYMBOLS];
    bool known[MOST_SYMBOLS];
    vyre_stmt loops[MOST_LOOPS]; /* open */
    uint64_t ends[MOST_LOOPS], steps[MOST_LOOPS], entries[MOST_LOOPS];
    uint32_t loop_count;
    uint64_t entry; /* serial of loop entries */
    vyre_wide bases[MOST_EXPRS];
    uint64_t base_entries[MOST_EXPRS];
    uint32_t of_expr[MOST_EXPRS], of_stmt[MOST_STMTS], next[MOST_SYMBOLS]; /* symbol + 1 */
    vyre_stmt pc;
} lane;

static bool complain(lane *l, vyre_expr expr, const char *what, vyre_wide got, vyre_wide claim) {
    if (!l->m->failed) {
        l->m->failed = true;
        (void)snprintf(l->m->message, sizeof l->m->message,
                       "statement %u, expression %u: %s: %lld, claimed %lld", l->pc, expr, what,
                       (long long)got, (long long)claim);
    }
    return false;
}

static vyre_wide integer(vyre_type type, uint64_t bits) {
    return type == VYRE_I32 ? (vyre_wide)(int32_t)(uint32_t)bits : (vyre_wide)(uint32_t)bits;
}

/* Forms */

static vyre_wide form_value(lane *l, const vyre_affine *form);

static uint64_t param_bits(const lane *l, vyre_decl decl) {
    return l->m->params[decl];
}

static uint32_t id_value(const lane *l, vyre_builtin id, uint32_t axis) {
    const uint32_t *size = l->m->p->workgroup;
    switch (id) {
    case VYRE_BUILTIN_GLOBAL_ID: return l->group[axis] * size[axis] + l->local[axis];
    case VYRE_BUILTIN_LOCAL_ID: return l->local[axis];
    case VYRE_BUILTIN_GROUP_ID: return l->group[axis];
    case VYRE_BUILTIN_NUM_GROUPS: return l->m->grid[axis];
    case VYRE_BUILTIN_GROUP_SIZE: return size[axis];
    case VYRE_BUILTIN_GLOBAL_SIZE: return l->m->grid[axis] * size[axis];
    case VYRE_BUILTIN_SUBGROUP_LOCAL_ID:
        return (l->local[0] + size[0] * (l->local[1] + size[1] * l->local[2])) % 32;
    case VYRE_BUILTIN_SUBGROUP_SIZE: return 32;
    case VYRE_BUILTIN_COUNT: break;
    }
    return 0;
}

static vyre_wide operator_value(lane *l, const vyre_symbol *s) {
    const vyre_expr_node *e = &l->m->p->exprs[s->expr];
    uint64_t operands[3] = {0}, bits = 0;
    for (uint32_t i = 0; i < 2 && s->operand[i] != VYRE_NONE; i++) {
        operands[i] = (uint32_t)form_value(l, vyre_ranges_form(l->m->r, s->operand[i]));
    }
    if (!vyre_fold(l->m->p, s->expr, operands, &bits)) {
        (void)complain(l, s->expr, "not folded", 0, 0);
    }
    return integer((vyre_type)e->type, bits);
}

static vyre_wide symbol_value(lane *l, uint32_t number) {
    const vyre_symbol *s = vyre_ranges_symbol(l->m->r, number);
    vyre_wide x = 0, y = 0;
    if (s->kind >= VYRE_SYMBOL_WRAPPED && s->kind <= VYRE_SYMBOL_MAX) {
        x = form_value(l, vyre_ranges_form(l->m->r, s->operand[0]));
        y = s->operand[1] == VYRE_NONE ? 1
                                       : form_value(l, vyre_ranges_form(l->m->r, s->operand[1]));
    }
    switch ((vyre_symbol_kind)s->kind) {
    case VYRE_SYMBOL_LEN: return l->m->counts[s->ref];
    case VYRE_SYMBOL_PARAM:
        return integer((vyre_type)l->m->p->decls[s->ref].type, param_bits(l, s->ref));
    case VYRE_SYMBOL_BUILTIN: return id_value(l, (vyre_builtin)s->sub, s->axis);
    case VYRE_SYMBOL_LOOP:
    case VYRE_SYMBOL_HEAD:
    case VYRE_SYMBOL_JOIN:
    case VYRE_SYMBOL_RESULT:
    case VYRE_SYMBOL_VALUE:
        return l->known[number] ? l->symbols[number] : complain(l, 0, "unbound", number, 0);
    case VYRE_SYMBOL_PRODUCT:
        return symbol_value(l, s->operand[0]) * symbol_value(l, s->operand[1]);
    case VYRE_SYMBOL_WRAPPED: return integer((vyre_type)s->sub, (uint64_t)(uint32_t)x);
    case VYRE_SYMBOL_QUOTIENT:
    case VYRE_SYMBOL_REMAINDER:
        if (x < 0 || y < 1) {
            return complain(l, 0, "operands of a quotient", x, y);
        }
        return s->kind == VYRE_SYMBOL_QUOTIENT ? x / y : x % y;
    case VYRE_SYMBOL_MIN: return x < y ? x : y;
    case VYRE_SYMBOL_MAX: return x > y ? x : y;
    case VYRE_SYMBOL_OPERATOR: return operator_value(l, s);
    case VYRE_SYMBOL_KINDS: break;
    }
    return 0;
}

static vyre_wide form_value(lane *l, const vyre_affine *form) {
    vyre_wide sum = form->constant;
    for (uint32_t i = 0; i < form->count; i++) {
        const vyre_wide value = symbol_value(l, form->symbols[i]);
        const vyre_symbol *s = vyre_ranges_symbol(l->m->r, form->symbols[i]);
        if ((s->lo != INT64_MIN && value < s->lo) || (s->hi != INT64_MAX && value > s->hi)) {
            (void)complain(l, 0, "symbol out of its bounds", value, s->lo);
        }
        sum += form->factors[i] * value;
    }
    return sum;
}

/* Symbols by the statement or expression that binds them. */
static void chain_symbols(lane *l) {
    const uint32_t count = vyre_ranges_symbol_count(l->m->r);
    memset(l->of_expr, 0, sizeof l->of_expr);
    memset(l->of_stmt, 0, sizeof l->of_stmt);
    for (uint32_t i = 0; i < count; i++) {
        const vyre_symbol *s = vyre_ranges_symbol(l->m->r, i);
        if (s->kind == VYRE_SYMBOL_VALUE) {
            l->of_expr[s->ref] = i + 1;
        } else if (s->kind >= VYRE_SYMBOL_LOOP && s->kind <= VYRE_SYMBOL_RESULT) {
            l->next[i] = l->of_stmt[s->ref];
            l->of_stmt[s->ref] = i + 1;
        }
    }
}

/* Gives the symbols of that kind that the statement binds the present value of their variable. */
static void bind(lane *l, vyre_symbol_kind kind, vyre_stmt stmt) {
    for (uint32_t i = l->of_stmt[stmt]; i != 0; i = l->next[i - 1]) {
        const vyre_symbol *s = vyre_ranges_symbol(l->m->r, i - 1);
        if (s->kind == (uint8_t)kind) {
            l->symbols[i - 1] = integer((vyre_type)l->m->p->vars[s->var].type, l->vars[s->var]);
            l->known[i - 1] = true;
        }
    }
}

static void bind_value(lane *l, vyre_expr expr) {
    const uint32_t i = l->of_expr[expr];
    if (i != 0) {
        l->symbols[i - 1] = integer((vyre_type)l->m->p->exprs[expr].type, l->values[expr]);
        l->known[i - 1] = true;
    }
}

/* Claims */

static void check_index(lane *l, vyre_expr index, vyre_wide value) {
    vyre_index_form f;
    vyre_stmt loop = VYRE_NONE;
    uint64_t entry = 0;
    for (uint32_t i = 0; i < l->loop_count; i++) {
        if (l->m->p->stmts[l->loops[i]].op == VYRE_STMT_FOR) {
            loop = l->loops[i];
            entry = l->entries[i];
        }
    }
    if (!vyre_ranges_index(l->m->r, index, loop, &f)) {
        return;
    }
    const vyre_wide base = form_value(l, &f.base);
    vyre_wide whole = base;
    for (uint32_t axis = 0; axis < 3; axis++) {
        whole += (vyre_wide)f.lane[axis] * l->local[axis];
    }
    if (loop != VYRE_NONE) {
        whole += (vyre_wide)f.step * (uint32_t)l->vars[l->m->p->stmts[loop].var];
        if (l->base_entries[index] == entry && l->bases[index] != base) {
            (void)complain(l, index, "base changed in the loop", base, l->bases[index]);
        }
        l->base_entries[index] = entry;
        l->bases[index] = base;
        l->m->totals->indices += f.step != 0;
    }
    if ((uint32_t)whole != (uint32_t)value || (!f.may_wrap && whole != value)) {
        (void)complain(l, index, "index form", value, whole);
    }
}

static void check_access(lane *l, vyre_decl memory, vyre_expr index, bool is_load, bool inside) {
    const uint32_t at = (uint32_t)l->values[index], count = l->m->counts[memory];
    if (l->m->strict && at >= count && (at != 0 || count != 0 || !is_load)) {
        (void)complain(l, index, "strictly inside", at, count);
    }
    l->m->totals->accesses++;
    l->m->totals->inside += inside;
    if (inside && at >= count) {
        (void)complain(l, index, "access inside", at, count);
    }
    if ((vyre_wide)count != form_value(l, vyre_ranges_length(l->m->r, memory))) {
        (void)complain(l, index, "length", count, 0);
    }
    check_index(l, index, at);
}

static void check_operation(lane *l, vyre_expr expr) {
    const vyre_expr_node *e = &l->m->p->exprs[expr];
    const bool followed = e->type == VYRE_U32 || e->type == VYRE_I32;
    if (e->op < VYRE_EXPR_ADD || e->op > VYRE_EXPR_SHR || !followed) {
        return;
    }
    const vyre_type type = (vyre_type)e->type;
    const vyre_wide x = integer(type, l->values[e->u.arg[0]]);
    const vyre_wide y =
        integer((vyre_type)l->m->p->exprs[e->u.arg[1]].type, l->values[e->u.arg[1]]);
    const vyre_wide value = integer(type, l->values[expr]);
    vyre_wide exact = 0;
    switch ((uint32_t)e->op) {
    case VYRE_EXPR_ADD: exact = x + y; break;
    case VYRE_EXPR_SUB: exact = x - y; break;
    case VYRE_EXPR_MUL: exact = x * y; break;
    case VYRE_EXPR_DIV:
    case VYRE_EXPR_REM:
        if (!vyre_ranges_may_divide_by_zero(l->m->r, expr)) {
            l->m->totals->divisors++;
            if (y == 0) {
                (void)complain(l, expr, "divisor", 0, 1);
            }
        }
        if (y == 0) {
            return;
        }
        exact = e->op == VYRE_EXPR_DIV ? x / y : x % y;
        break;
    case VYRE_EXPR_SHL:
    case VYRE_EXPR_SHR:
        if (!vyre_ranges_may_shift_beyond(l->m->r, expr)) {
            l->m->totals->amounts++;
            if (y < 0 || y > 31) {
                (void)complain(l, expr, "amount", y, 31);
            }
        }
        if (e->op == VYRE_EXPR_SHR) {
            return;
        }
        exact = x * ((vyre_wide)1 << ((uint32_t)y & 31));
        break;
    default: return;
    }
    if (!vyre_ranges_may_wrap(l->m->r, expr)) {
        l->m->totals->operations++;
        if (exact != value) {
            (void)complain(l, expr, "wraps", value, exact);
        }
    }
}

static void check_value(lane *l, vyre_expr expr) {
    const vyre_expr_node *e = &l->m->p->exprs[expr];
    range_counts *n = l->m->totals;
    vyre_range r;
    if (!vyre_ranges_of(l->m->r, expr, &r)) {
        return;
    }
    const vyre_wide value = integer((vyre_type)e->type, l->values[expr]);
    const vyre_wide lower = form_value(l, &r.lower), upper = form_value(l, &r.upper);
    const vyre_wide index = form_value(l, &r.index);
    n->values++;
    n->constants +=
        e->type == VYRE_U32 ? r.lo > 0 || r.hi < UINT32_MAX : r.lo > INT32_MIN || r.hi < INT32_MAX;
    n->symbolic += r.lower.count > 0 || r.upper.count > 0;
    n->exact += r.exact && r.index.count > 0;
    if (value < r.lo || value > r.hi) {
        (void)complain(l, expr, "bounds", value, value < r.lo ? r.lo : r.hi);
    } else if (value < lower || value > upper) {
        (void)complain(l, expr, "symbolic bounds", value, value < lower ? lower : upper);
    } else if ((uint32_t)index != (uint32_t)value || (r.exact && index != value)) {
        (void)complain(l, expr, r.exact ? "form" : "form modulo 2^32", value, index);
    }
}

static void check_clip(lane *l, vyre_expr condition, vyre_stmt loop, uint32_t axis) {
    vyre_clip clip;
    if (!vyre_ranges_clip(l->m->r, condition, loop, axis, &clip)) {
        return;
    }
    const vyre_wide variable =
        loop == VYRE_NONE ? l->local[axis] : (uint32_t)l->vars[l->m->p->stmts[loop].var];
    bool holds = true, clips = false;
    for (uint32_t i = 0; i < clip.bound_count; i++) {
        holds &= clip.bounds[i].factor * variable + form_value(l, &clip.bounds[i].base) <= 0;
        clips |= clip.bounds[i].factor != 0;
    }
    for (uint32_t i = 0; i < clip.rest_count; i++) {
        holds &= l->values[clip.rest[i]] != 0;
    }
    l->m->totals->clips += clips;
    if (holds != (l->values[condition] != 0)) {
        (void)complain(l, condition, "clipped condition", !holds, holds);
    }
}

static void check_condition(lane *l, vyre_expr condition) {
    for (uint32_t axis = 0; axis < 3; axis++) {
        check_clip(l, condition, VYRE_NONE, axis);
    }
    for (uint32_t i = 0; i < l->loop_count; i++) {
        if (l->m->p->stmts[l->loops[i]].op == VYRE_STMT_FOR) {
            check_clip(l, condition, l->loops[i], 0);
        }
    }
}

/* Running */

static uint64_t load(const lane *l, vyre_decl memory, uint32_t index) {
    const vyre_type type = (vyre_type)l->m->p->decls[memory].type;
    const uint8_t *at = l->m->memory[memory];
    const uint32_t size = vyre_type_size(type);
    uint32_t word = 0;
    if (index >= l->m->counts[memory]) {
        return 0;
    }
    memcpy(&word, at + (size_t)index * size, size);
    switch ((uint32_t)type) {
    case VYRE_I8: word = (uint32_t)(int8_t)word; break;
    case VYRE_I16: word = (uint32_t)(int16_t)word; break;
    default: break;
    }
    return word;
}

static void store(const lane *l, vyre_decl memory, uint32_t index, uint64_t value) {
    const uint32_t size = vyre_type_size((vyre_type)l->m->p->decls[memory].type);
    const uint32_t word = (uint32_t)value;
    if (index < l->m->counts[memory]) {
        memcpy((uint8_t *)l->m->memory[memory] + (size_t)index * size, &word, size);
    }
}

static void evaluate(lane *l, vyre_expr expr) {
    const vyre_program_view *p = l->m->p;
    const vyre_expr_node *e = &p->exprs[expr];
    uint64_t operands[3] = {0}, bits = 0;
    const uint32_t arity = vyre_expr_info_of((vyre_expr_op)e->op)->arity;
    for (uint32_t i = 0; i < arity; i++) {
        operands[i] = l->values[e->u.arg[i]];
    }
    switch ((uint32_t)e->op) {
    case VYRE_EXPR_LITERAL: bits = e->u.bits; break;
    case VYRE_EXPR_VAR: bits = l->vars[e->ref]; break;
    case VYRE_EXPR_REF:
        bits = param_bits(l, e->ref);
        if (p->decls[e->ref].role == VYRE_CONST) {
            (void)vyre_fold_const(p, e->ref, &bits);
        }
        break;
    case VYRE_EXPR_LEN: bits = l->m->counts[e->ref]; break;
    case VYRE_EXPR_BUILTIN: bits = id_value(l, (vyre_builtin)e->sub, e->axis); break;
    case VYRE_EXPR_LOAD: bits = load(l, e->ref, (uint32_t)operands[0]); break;
    default:
        if (!vyre_fold(p, expr, operands, &bits)) {
            (void)complain(l, expr, "not folded", 0, 0);
        }
        break;
    }
    l->values[expr] = bits;
    if (e->type == VYRE_U32 || e->type == VYRE_I32) {
        bind_value(l, expr);
        check_value(l, expr);
    }
    check_operation(l, expr);
    if (e->op == VYRE_EXPR_LOAD) {
        check_access(l, e->ref, e->u.arg[0], true, vyre_ranges_load_inside(l->m->r, expr));
    }
}

static void evaluate_all(lane *l, const vyre_stmt_node *s) {
    for (vyre_expr e = s->first_expr; e < s->end_expr; e++) {
        evaluate(l, e);
    }
}

static void push_loop(lane *l, vyre_stmt at) {
    l->entries[l->loop_count] = ++l->entry;
    l->loops[l->loop_count++] = at;
}

/* Leaves the innermost loop. */
static void leave_loop(lane *l) {
    const vyre_stmt end = l->m->p->stmts[l->loops[--l->loop_count]].match;
    bind(l, VYRE_SYMBOL_JOIN, end);
    l->pc = end + 1;
}

/* The head of the innermost loop: a trip, or the end. */
static void head(lane *l, uint64_t counter) {
    const uint32_t top = l->loop_count - 1;
    const vyre_stmt at = l->loops[top];
    const vyre_stmt_node *s = &l->m->p->stmts[at];
    bind(l, VYRE_SYMBOL_HEAD, at);
    bool runs = counter < l->ends[top] && l->steps[top] != 0;
    if (s->op == VYRE_STMT_WHILE) {
        evaluate_all(l, s);
        runs = l->values[s->arg[0]] != 0;
    } else if (runs) {
        l->vars[s->var] = counter;
        bind(l, VYRE_SYMBOL_LOOP, at);
    }
    if (runs) {
        l->pc = at + 1;
    } else {
        leave_loop(l);
    }
}

static void next_trip(lane *l) {
    const uint32_t top = l->loop_count - 1;
    const vyre_stmt_node *s = &l->m->p->stmts[l->loops[top]];
    head(l, s->op == VYRE_STMT_FOR ? l->vars[s->var] + l->steps[top] : 0);
}

static void open_loop(lane *l, const vyre_stmt_node *s) {
    const vyre_stmt at = l->pc;
    const uint32_t top = l->loop_count;
    uint64_t from = 0;
    if (s->op == VYRE_STMT_FOR) {
        evaluate_all(l, s);
        from = l->values[s->arg[0]];
        l->ends[top] = l->values[s->arg[1]];
        l->steps[top] = s->arg[2] == VYRE_NONE ? 1 : l->values[s->arg[2]];
    }
    push_loop(l, at);
    head(l, from);
}

static void atomic_add(lane *l, const vyre_stmt_node *s) {
    const uint32_t index = (uint32_t)l->values[s->arg[0]];
    const uint64_t old = load(l, s->decl, index);
    store(l, s->decl, index, old + l->values[s->arg[1]]);
    if (s->var != VYRE_NONE) {
        l->vars[s->var] = old;
        bind(l, VYRE_SYMBOL_RESULT, l->pc);
    }
}

/* Unwinds to the loop of a jump. */
static void unwind(lane *l, vyre_stmt loop) {
    while (l->loops[l->loop_count - 1] != loop) {
        l->loop_count--;
    }
}

static void close_scope(lane *l, const vyre_stmt_node *s) {
    const uint8_t opener = l->m->p->stmts[s->match].op;
    if (opener == VYRE_STMT_FOR || opener == VYRE_STMT_WHILE) {
        next_trip(l);
        return;
    }
    bind(l, VYRE_SYMBOL_JOIN, l->pc);
    l->pc++;
}

static void step(lane *l) {
    const vyre_program_view *p = l->m->p;
    const vyre_stmt_node *s = &p->stmts[l->pc];
    if (s->op == VYRE_STMT_FOR || s->op == VYRE_STMT_WHILE) {
        open_loop(l, s);
        return;
    }
    evaluate_all(l, s);
    switch ((uint32_t)s->op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_ASSIGN: l->vars[s->var] = l->values[s->arg[0]]; break;
    case VYRE_STMT_STORE:
        check_access(l, s->decl, s->arg[0], false, vyre_ranges_access_inside(l->m->r, l->pc));
        store(l, s->decl, (uint32_t)l->values[s->arg[0]], l->values[s->arg[1]]);
        break;
    case VYRE_STMT_ATOMIC:
        check_access(l, s->decl, s->arg[0], false, vyre_ranges_access_inside(l->m->r, l->pc));
        atomic_add(l, s);
        break;
    case VYRE_STMT_IF:
        check_condition(l, s->arg[0]);
        if (l->values[s->arg[0]] == 0) {
            const bool has_else = p->stmts[s->match].op == VYRE_STMT_ELSE;
            l->pc = has_else ? s->match + 1 : s->match;
            return;
        }
        break;
    case VYRE_STMT_ELSE: l->pc = s->match; return;
    case VYRE_STMT_END: close_scope(l, s); return;
    case VYRE_STMT_BREAK:
        unwind(l, s->match);
        leave_loop(l);
        return;
    case VYRE_STMT_CONTINUE:
        unwind(l, s->match);
        next_trip(l);
        return;
    case VYRE_STMT_EXIT: l->pc = p->stmt_count; return;
    default: break;
    }
    l->pc++;
}

static void clear(range_machine *m, vyre_role role) {
    for (vyre_decl i = 0; i < m->p->decl_count; i++) {
        if (m->p->decls[i].role == (uint8_t)role) {
            memset(m->memory[i], 0, (size_t)m->counts[i] * 4);
        }
    }
}

static bool run_lane(lane *l) {
    range_machine *m = l->m;
    clear(m, VYRE_PRIVATE);
    memset(l->known, 0, sizeof l->known);
    memset(l->base_entries, 0, sizeof l->base_entries);
    l->loop_count = 0;
    l->pc = m->p->entry;
    while (l->pc < m->p->stmt_count && !m->failed && m->budget > 0) {
        m->budget--;
        step(l);
    }
    return m->budget > 0 && !m->failed;
}

bool range_machine_run(range_machine *m) {
    lane *l = calloc(1, sizeof *l);
    const uint32_t *size = m->p->workgroup;
    bool ok = l && m->p->expr_count <= MOST_EXPRS && m->p->stmt_count <= MOST_STMTS &&
              m->p->var_count <= MOST_VARS && vyre_ranges_symbol_count(m->r) <= MOST_SYMBOLS;
    const uint32_t groups = m->grid[0] * m->grid[1] * m->grid[2];
    const uint32_t lanes = size[0] * size[1] * size[2];
    if (ok) {
        l->m = m;
        chain_symbols(l);
    }
    for (uint32_t g = 0; g < groups && ok; g++) {
        clear(m, VYRE_WORKGROUP);
        for (uint32_t i = 0; i < lanes && ok; i++) {
            l->group[0] = g % m->grid[0];
            l->group[1] = g / m->grid[0] % m->grid[1];
            l->group[2] = g / m->grid[0] / m->grid[1];
            l->local[0] = i % size[0];
            l->local[1] = i / size[0] % size[1];
            l->local[2] = i / size[0] / size[1];
            ok = run_lane(l);
        }
    }
    free(l);
    return ok;
}
