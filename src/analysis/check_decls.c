/* Declarations and clauses: names, sizes, constants, limits.
 *
 * Sizes and consts may refer to each other in any order; a depth-first search with an explicit
 * stack finds cycles and visits each declaration after those it refers to, so that constants are
 * known when they are needed. */
#include "analysis/checker.h"
#include "analysis/tree.h"
#include "base/checked.h"
#include "ir/builder.h"
#include "ir/fold.h"
#include "ir/size.h"
#include "vyre/limits.h"

static vyre_place decl_place(const vyre_checker *c, vyre_decl decl) {
    return vyre_program_decl_place(c->program, decl);
}

/* Names */

static void check_names(vyre_checker *c) {
    const vyre_program_view *p = c->p;
    for (uint32_t i = 0; i < p->decl_count + p->fn_count && !c->failed; i++) {
        const bool fn = i >= p->decl_count;
        const char *text = fn ? p->fns[i - p->decl_count].name : p->decls[i].name;
        const uint32_t name = vyre_checker_name(c, text);
        if (name == VYRE_NONE) {
            return;
        }
        if (c->visible.data[name]) {
            vyre_checker_error(c, "V107",
                               fn ? vyre_program_fn_place(c->program, i - p->decl_count)
                                  : decl_place(c, i),
                               "choose another name", "`%s` is declared twice", text);
        }
        c->visible.data[name] = true;
    }
}

/* Constants */

/* A const expands to at most this many expressions, so that whoever evaluates one by following its
 * consts, without remembering them, is done soon. */
enum { CONST_WEIGHT = 4096 };

bool vyre_checker_constant(const vyre_checker *c, vyre_expr root, int64_t *out) {
    uint64_t stack[2 * VYRE_BUILDER_EXPR_DEPTH + 2];
    uint64_t bits = 0;
    uint32_t top = 0;
    const vyre_type type = (vyre_type)c->p->exprs[root].type;
    for (vyre_expr i = vyre_tree_begin(c->p, root); i <= root; i++) {
        const vyre_expr_node *node = &c->p->exprs[i];
        if (node->op == VYRE_EXPR_LITERAL) {
            bits = node->u.bits;
        } else if (node->op == VYRE_EXPR_REF && c->p->decls[node->ref].role == VYRE_CONST &&
                   c->known[node->ref]) {
            bits = c->value[node->ref];
        } else {
            const uint32_t arity = vyre_expr_info_of((vyre_expr_op)node->op)->arity;
            if (arity == 0 || !vyre_fold(c->p, i, stack + top - arity, &bits)) {
                return false;
            }
            top -= arity;
        }
        stack[top++] = bits;
    }
    *out = type == VYRE_I32 ? (int32_t)bits : (int64_t)bits;
    return vyre_type_is_integer(type) && (type != VYRE_U64 || *out >= 0);
}

/* Sizes */

static bool check_exact(vyre_checker *c, vyre_expr first, vyre_expr end, const char *what) {
    for (vyre_expr i = first; i < end; i++) {
        if (!vyre_size_allows(&c->p->exprs[i])) {
            vyre_checker_error(c, "V242", vyre_program_expr_place(c->program, i),
                               "use + - * / % << >> min max of integers, len(), params, consts",
                               "this can't stand in %s", what);
            return false;
        }
    }
    return true;
}

static bool known_len(void *user, vyre_decl decl, uint64_t *out) {
    const vyre_checker *c = user;
    *out = c->value[decl];
    return c->known[decl];
}

/* VYRE_SIZE_OK, VYRE_SIZE_UNKNOWN, or something that was reported. A bad const is unknown. */
static vyre_size_result evaluate_size(vyre_checker *c, vyre_expr first, vyre_expr root,
                                      const char *what, uint64_t *out) {
    const vyre_size_env env = {.len = known_len, .user = c};
    for (vyre_expr i = first; i <= root; i++) {
        const vyre_expr_node *node = &c->p->exprs[i];
        if (node->op == VYRE_EXPR_REF && c->bad_decl[node->ref]) {
            return VYRE_SIZE_UNKNOWN;
        }
    }
    vyre_size_result result = vyre_size_evaluate(c->p, root, &env, out, NULL);
    if (result == VYRE_SIZE_OK && *out > UINT32_MAX) {
        result = VYRE_SIZE_RANGE;
    }
    if (result != VYRE_SIZE_OK && result != VYRE_SIZE_UNKNOWN) {
        vyre_checker_error(c, "V245", vyre_program_expr_place(c->program, root),
                           "use a number from 0 to 4294967295", "%s %s", what,
                           result == VYRE_SIZE_DIVISION ? "divides by zero" : "is out of range");
    }
    return result;
}

static void check_weight(vyre_checker *c, vyre_decl decl) {
    const vyre_decl_node *node = &c->p->decls[decl];
    for (vyre_expr i = node->first_expr; i < node->end_expr; i++) {
        const vyre_expr_node *expr = &c->p->exprs[i];
        c->weight[decl] += expr->op == VYRE_EXPR_REF ? 1 + c->weight[expr->ref] : 1;
        if (c->weight[decl] > CONST_WEIGHT) {
            c->weight[decl] = CONST_WEIGHT + 1;
        }
    }
    if (c->weight[decl] > CONST_WEIGHT && !c->bad_decl[decl]) {
        vyre_checker_error(c, "V247", decl_place(c, decl), "use fewer consts in consts",
                           "const `%s` expands to more than %d expressions", node->name,
                           (int)CONST_WEIGHT);
        c->bad_decl[decl] = true;
    }
}

static void check_const(vyre_checker *c, vyre_decl decl) {
    const vyre_decl_node *node = &c->p->decls[decl];
    for (vyre_expr i = node->first_expr; i < node->end_expr; i++) {
        const vyre_expr_node *expr = &c->p->exprs[i];
        const bool variable =
            expr->op == VYRE_EXPR_VAR || expr->op == VYRE_EXPR_LEN ||
            expr->op == VYRE_EXPR_BUILTIN || expr->op == VYRE_EXPR_LOAD ||
            (expr->op == VYRE_EXPR_REF && c->p->decls[expr->ref].role != VYRE_CONST);
        if (variable) {
            vyre_checker_error(c, "V233", vyre_program_expr_place(c->program, i),
                               "use literals and other consts, or write `let`",
                               "the value of const `%s` is not constant", node->name);
            c->bad_decl[decl] = true;
            return;
        }
    }
    if (node->value == VYRE_NONE) {
        vyre_checker_error(c, "V241", decl_place(c, decl), "give it a value",
                           "const `%s` has no value", node->name);
        c->bad_decl[decl] = true;
        return;
    }
    vyre_check_exprs(c, node->first_expr, node->end_expr);
    c->bad_decl[decl] = c->bad_expr[node->value];
    check_weight(c, decl);
    c->known[decl] = !c->bad_decl[decl] && vyre_fold_const(c->p, decl, &c->value[decl]);
}

static void check_param(vyre_checker *c, vyre_decl decl) {
    const vyre_decl_node *node = &c->p->decls[decl];
    if (node->value == VYRE_NONE) {
        return;
    }
    const vyre_expr_node *value = &c->p->exprs[node->value];
    const bool literal =
        value->op == VYRE_EXPR_LITERAL ||
        (value->op == VYRE_EXPR_BITCAST && c->p->exprs[value->u.arg[0]].op == VYRE_EXPR_LITERAL);
    if (!literal || value->type != node->type) {
        vyre_checker_error(c, "V233", vyre_program_expr_place(c->program, node->value),
                           "write a literal of the param's type",
                           "the default of param `%s` is not a literal of type %s", node->name,
                           vyre_type_name((vyre_type)node->type));
    }
}

/* A product may be right where its factors are not. */
static bool check_dimensions(vyre_checker *c, vyre_decl decl) {
    const vyre_decl_node *node = &c->p->decls[decl];
    bool fine = check_exact(c, node->first_expr, node->end_expr, "a size");
    for (uint32_t i = 0; i < node->rank && fine; i++) {
        const vyre_expr root = vyre_decl_dimension(c->p, decl, i);
        uint64_t length;
        if (root != VYRE_NONE) {
            const vyre_size_result result =
                evaluate_size(c, vyre_tree_begin(c->p, root), root, "the size", &length);
            fine = result == VYRE_SIZE_OK || result == VYRE_SIZE_UNKNOWN;
        }
    }
    return fine;
}

static void check_size(vyre_checker *c, vyre_decl decl) {
    const vyre_decl_node *node = &c->p->decls[decl];
    const bool fixed = node->role == VYRE_WORKGROUP || node->role == VYRE_PRIVATE;
    if (node->rank > 1 && !check_dimensions(c, decl)) {
        return;
    }
    if (node->size == VYRE_NONE) {
        if (fixed || node->role == VYRE_OUT || node->role == VYRE_SCRATCH) {
            vyre_checker_error(c, fixed ? "V109" : "V130", decl_place(c, decl),
                               "write the number of elements in the brackets",
                               "%s `%s` needs a size", vyre_role_name((vyre_role)node->role),
                               node->name);
        }
        return;
    }
    if (!check_exact(c, node->first_expr, node->end_expr, "a size")) {
        return;
    }
    const vyre_size_result result =
        evaluate_size(c, node->first_expr, node->size, "the size", &c->value[decl]);
    const vyre_place place = vyre_program_expr_place(c->program, node->size);
    c->known[decl] = result == VYRE_SIZE_OK;
    if (fixed && result == VYRE_SIZE_UNKNOWN) {
        vyre_checker_error(c, "V244", place, "use literals and consts",
                           "the size of %s `%s` is not a constant",
                           vyre_role_name((vyre_role)node->role), node->name);
    } else if (fixed && result == VYRE_SIZE_OK && c->value[decl] == 0) {
        vyre_checker_error(c, "V109", place, "give it at least one element", "%s `%s` is empty",
                           vyre_role_name((vyre_role)node->role), node->name);
    }
}

static void check_range(vyre_checker *c, vyre_decl decl) {
    const vyre_decl_node *node = &c->p->decls[decl];
    if (node->range_begin == 0 && node->range_end == 0) {
        return;
    }
    const bool returned = node->role == VYRE_INOUT || node->role == VYRE_OUT;
    const uint64_t bytes =
        c->known[decl] ? c->value[decl] * vyre_type_size((vyre_type)node->type) : UINT64_MAX;
    if (!returned || node->range_begin >= node->range_end || node->range_end > bytes) {
        vyre_checker_error(c, "V250", decl_place(c, decl),
                           "give a range of bytes inside an inout or out buffer",
                           "bytes %u to %u of `%s` can't be returned", node->range_begin,
                           node->range_end, node->name);
    }
}

static void check_decl(vyre_checker *c, vyre_decl decl) {
    switch ((vyre_role)c->p->decls[decl].role) {
    case VYRE_CONST: check_const(c, decl); break;
    case VYRE_PARAM: check_param(c, decl); break;
    case VYRE_IN:
    case VYRE_INOUT:
    case VYRE_OUT:
    case VYRE_SCRATCH:
    case VYRE_WORKGROUP:
    case VYRE_PRIVATE:
        check_size(c, decl);
        check_range(c, decl);
        break;
    case VYRE_ROLE_COUNT: break;
    }
}

/* Order and cycles */

typedef struct frame {
    vyre_decl decl;
    vyre_expr at;
} frame;

enum { UNSEEN = 0, OPEN, DONE };

typedef VYRE_VEC(frame) frames;

static void report_cycle(vyre_checker *c, const frames *stack, vyre_decl decl, vyre_expr at) {
    const bool value = c->p->decls[decl].role == VYRE_CONST;
    vyre_checker_error(c, value ? "V232" : "V243", vyre_program_expr_place(c->program, at),
                       "break the circle with a param or a constant",
                       "the %s of `%s` depends on itself", value ? "value" : "size",
                       c->p->decls[decl].name);
    for (uint32_t i = stack->count; i-- > 0;) {
        c->bad_decl[stack->data[i].decl] = true;
        if (stack->data[i].decl == decl) {
            break;
        }
    }
}

static void visit_decls(vyre_checker *c, frames *stack, uint8_t *state, vyre_decl root) {
    const vyre_program_view *p = c->p;
    if (state[root] != UNSEEN) {
        return;
    }
    state[root] = OPEN;
    c->failed = !vyre_vec_push(&c->allocator, stack, (frame){root, p->decls[root].first_expr});
    while (!c->failed && stack->count != 0) {
        frame *top = &stack->data[stack->count - 1];
        if (top->at == p->decls[top->decl].end_expr) {
            state[top->decl] = DONE;
            if (!c->bad_decl[top->decl]) {
                check_decl(c, top->decl);
            }
            stack->count--;
            continue;
        }
        const vyre_expr_node *expr = &p->exprs[top->at];
        const vyre_expr at = top->at++;
        if (expr->op != VYRE_EXPR_REF && expr->op != VYRE_EXPR_LEN) {
            continue;
        }
        if (state[expr->ref] == OPEN) {
            report_cycle(c, stack, expr->ref, at);
        } else if (state[expr->ref] == UNSEEN) {
            state[expr->ref] = OPEN;
            c->failed = !vyre_vec_push(&c->allocator, stack,
                                       (frame){expr->ref, p->decls[expr->ref].first_expr});
        }
    }
}

static void check_all(vyre_checker *c) {
    const uint32_t count = c->p->decl_count;
    uint8_t *state = vyre_alloc_zeroed(&c->allocator, count, sizeof *state);
    frames stack = {0};
    c->failed = !state;
    for (vyre_decl decl = 0; decl < count && !c->failed; decl++) {
        visit_decls(c, &stack, state, decl);
    }
    vyre_vec_free(&c->allocator, &stack);
    vyre_free(&c->allocator, state, count, sizeof *state);
}

/* Limits and clauses */

static void check_bytes(vyre_checker *c, vyre_role role, uint64_t limit) {
    uint64_t total = 0;
    for (vyre_decl decl = 0; decl < c->p->decl_count; decl++) {
        const vyre_decl_node *node = &c->p->decls[decl];
        if (node->role != role || !c->known[decl]) {
            continue;
        }
        const uint64_t before = total;
        total += c->value[decl] * vyre_type_size((vyre_type)node->type);
        if (before <= limit && total > limit) {
            vyre_checker_error(c, "V245", decl_place(c, decl), "use smaller arrays or a buffer",
                               "%s arrays take more than %llu bytes", vyre_role_name(role),
                               (unsigned long long)limit);
        }
    }
}

static void check_workgroup(vyre_checker *c) {
    const uint32_t *size = c->p->workgroup;
    const vyre_place place = vyre_program_place(c->program);
    uint64_t lanes = 1;
    for (uint32_t axis = 0; axis < 3; axis++) {
        if (size[axis] == 0) {
            vyre_checker_error(c, "V106", place, "use a size of at least 1",
                               "the workgroup has size 0 along %c", "xyz"[axis]);
            return;
        }
        lanes = lanes > VYRE_LIMIT_GROUP_LANES ? lanes : lanes * size[axis];
    }
    if (lanes > VYRE_LIMIT_GROUP_LANES) {
        vyre_checker_error(c, "V246", place, "use a smaller workgroup",
                           "the workgroup has more than %d lanes", (int)VYRE_LIMIT_GROUP_LANES);
    }
}

/* The place of the last one that is allowed. */
static void check_count(vyre_checker *c) {
    if (c->p->decl_count > VYRE_LIMIT_DECLS) {
        vyre_checker_error(c, "V019", decl_place(c, VYRE_LIMIT_DECLS), "use fewer, larger buffers",
                           "more than %d declarations", (int)VYRE_LIMIT_DECLS);
    }
}

/* Lanes along an axis: as many as a u32 can number. */
static void check_lanes(vyre_checker *c, uint32_t clause, uint32_t axis, uint64_t groups) {
    if (groups * c->p->workgroup[axis] > UINT32_MAX) { /* 32 bits and 32 bits */
        vyre_checker_error(c, "V245", vyre_program_expr_place(c->program, c->p->clause[clause]),
                           "use fewer lanes and a loop over the elements",
                           "%llu groups of %u lanes along %c: global ids would not fit u32",
                           (unsigned long long)groups, c->p->workgroup[axis], "xyz"[axis]);
    }
}

static void check_clause(vyre_checker *c) {
    const vyre_program_view *p = c->p;
    uint32_t axis = 0; /* that elements() goes along */
    while (axis < 2 && p->workgroup[axis] <= 1) {
        axis++;
    }
    axis = p->workgroup[axis] > 1 ? axis : 0;
    for (uint32_t i = 0; i < 3 && p->clause_kind != VYRE_CLAUSE_NONE; i++) {
        uint64_t value;
        if (p->clause[i] == VYRE_NONE) {
            continue;
        }
        const char *what =
            p->clause_kind == VYRE_CLAUSE_GRID ? "the grid" : "the number of elements";
        const vyre_expr first = vyre_tree_begin(p, p->clause[i]);
        if (check_exact(c, first, p->clause[i] + 1, what) &&
            evaluate_size(c, first, p->clause[i], what, &value) == VYRE_SIZE_OK) {
            const bool is_grid = p->clause_kind == VYRE_CLAUSE_GRID;
            check_lanes(c, i, is_grid ? i : axis,
                        is_grid                  ? value
                        : p->workgroup[axis] > 0 ? vyre_ceil_div(value, p->workgroup[axis])
                                                 : 0 /* told already */);
        }
    }
    const uint32_t active =
        (uint32_t)(p->workgroup[0] > 1) + (p->workgroup[1] > 1) + (p->workgroup[2] > 1);
    if (p->clause_kind == VYRE_CLAUSE_ELEMENTS && active > 1) {
        vyre_checker_error(c, "V249", vyre_program_expr_place(c->program, p->clause[0]),
                           "write grid(x, y, z)",
                           "elements() goes along one axis, but the workgroup has %u", active);
    }
}

void vyre_check_decls(vyre_checker *c) {
    check_workgroup(c);
    check_count(c);
    check_names(c);
    if (!c->failed) {
        check_all(c);
    }
    if (!c->failed) {
        check_clause(c);
        check_bytes(c, VYRE_WORKGROUP, VYRE_LIMIT_WORKGROUP_BYTES);
        check_bytes(c, VYRE_PRIVATE, VYRE_LIMIT_PRIVATE_BYTES);
    }
}
