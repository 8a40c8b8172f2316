/* Building statements and functions. */
#include <string.h>

#include "ir/builder_state.h"
#include "ir/names.h"

static vyre_stmt_node blank(vyre_stmt_op op) {
    return (vyre_stmt_node){
        .op = (uint8_t)op,
        .var = VYRE_NONE,
        .decl = VYRE_NONE,
        .decl2 = VYRE_NONE,
        .arg = {VYRE_NONE, VYRE_NONE, VYRE_NONE},
        .fn = VYRE_NONE,
        .match = VYRE_NONE,
    };
}

/* Commits up to three operands in the order given and appends the statement. arg[] of the statement
 * is filled by `slots`: the position of each operand. */
static vyre_stmt add_stmt(vyre_builder *b, vyre_stmt_node node, const vyre_expr *operands,
                          const uint8_t *slots, uint32_t count) {
    if (!vyre_builder_ok(b)) {
        return VYRE_NONE;
    }
    vyre_body *to = vyre_builder_code(b);
    node.first_expr = to->exprs.count;
    for (uint32_t i = 0; i < count; i++) {
        node.arg[slots[i]] = vyre_builder_commit_optional(b, to, operands[i], false);
    }
    node.end_expr = to->exprs.count;
    if (!vyre_builder_ok(b)) {
        return VYRE_NONE;
    }
    if (to->stmts.count >= VYRE_BUILDER_STATEMENTS) {
        vyre_builder_fail(b, VYRE_LIMIT, "split the program or call fewer functions",
                          "more than %d statements in one body", (int)VYRE_BUILDER_STATEMENTS);
        return VYRE_NONE;
    }
    if (!vyre_vec_push(&b->allocator, &to->stmts, node) ||
        !vyre_vec_push(&b->allocator, &to->stmt_places, b->place)) {
        vyre_builder_fail_memory(b);
        return VYRE_NONE;
    }
    return to->stmts.count - 1;
}

static const uint8_t in_order[3] = {0, 1, 2};

static vyre_stmt add_plain(vyre_builder *b, vyre_stmt_node node, vyre_expr x, vyre_expr y,
                           vyre_expr z) {
    vyre_expr operands[3] = {x, y, z};
    return add_stmt(b, node, operands, in_order, 3);
}

static vyre_var add_var(vyre_builder *b, const char *name, vyre_type type, vyre_var_kind kind) {
    if (!vyre_builder_ok(b)) {
        return VYRE_NONE;
    }
    vyre_var_node node = {.name = vyre_builder_intern_name(b, name),
                          .type = (uint8_t)type,
                          .kind = (uint8_t)kind,
                          .fn = b->current};
    if (!vyre_builder_ok(b)) {
        return VYRE_NONE;
    }
    if (!vyre_vec_push(&b->allocator, &b->vars, node) ||
        !vyre_vec_push(&b->allocator, &b->var_places, b->place)) {
        vyre_builder_fail_memory(b);
        return VYRE_NONE;
    }
    return b->vars.count - 1;
}

vyre_var vyre_build_let(vyre_builder *b, const char *name, vyre_expr value) {
    vyre_stmt_node node = blank(VYRE_STMT_LET);
    node.var = add_var(b, name, vyre_builder_expr_type(b, value), VYRE_VAR_LOCAL);
    (void)add_plain(b, node, value, VYRE_NONE, VYRE_NONE);
    return node.var;
}

void vyre_build_assign(vyre_builder *b, vyre_var var, vyre_expr value) {
    if (vyre_builder_ok(b) && var >= b->vars.count) {
        vyre_builder_misuse(b, "no such variable");
    }
    vyre_stmt_node node = blank(VYRE_STMT_ASSIGN);
    node.var = var;
    (void)add_plain(b, node, value, VYRE_NONE, VYRE_NONE);
}

void vyre_build_store(vyre_builder *b, vyre_decl memory, vyre_expr index, vyre_expr value) {
    if (!vyre_builder_is_decl(b, memory, true)) {
        return;
    }
    vyre_stmt_node node = blank(VYRE_STMT_STORE);
    node.decl = memory;
    (void)add_plain(b, node, index, value, VYRE_NONE);
}

vyre_var vyre_build_atomic(vyre_builder *b, const char *name, vyre_atomic_op op, vyre_decl memory,
                           vyre_expr index, vyre_expr expected, vyre_expr value,
                           vyre_ordering ordering) {
    if (!vyre_builder_is_decl(b, memory, true)) {
        return VYRE_NONE;
    }
    if ((unsigned)op >= VYRE_ATOMIC_COUNT || (unsigned)ordering >= VYRE_ORDERING_COUNT) {
        vyre_builder_misuse(b, "no such atomic operation or ordering");
        return VYRE_NONE;
    }
    if (op == VYRE_ATOMIC_STORE && name) {
        vyre_builder_misuse(b, "atomic_store gives no value to bind");
        return VYRE_NONE;
    }
    vyre_stmt_node node = blank(VYRE_STMT_ATOMIC);
    node.sub = (uint8_t)op;
    node.ordering = (uint8_t)ordering;
    node.decl = memory;
    if (name) {
        vyre_type element = (vyre_type)b->decls.data[memory].type;
        node.var = add_var(b, name, vyre_type_widened(element), VYRE_VAR_LOCAL);
    }
    /* Evaluated as index, expected, value; stored as index, value, expected. */
    vyre_expr operands[3] = {index, expected, value};
    static const uint8_t slots[3] = {0, 2, 1};
    (void)add_stmt(b, node, operands, slots, 3);
    return node.var;
}

vyre_var vyre_build_subgroup(vyre_builder *b, const char *name, vyre_subgroup_op op,
                             vyre_expr value, vyre_expr lane) {
    if (vyre_builder_ok(b) && (unsigned)op >= VYRE_SUBGROUP_COUNT) {
        vyre_builder_misuse(b, "no such subgroup operation");
        return VYRE_NONE;
    }
    vyre_stmt_node node = blank(VYRE_STMT_SUBGROUP);
    node.sub = (uint8_t)op;
    if (name) {
        vyre_type type = vyre_subgroup_type(op, vyre_builder_expr_type(b, value));
        node.var = add_var(b, name, type, VYRE_VAR_LOCAL);
    }
    (void)add_plain(b, node, value, lane, VYRE_NONE);
    return node.var;
}

/* A reduction or scan as statement `kind`. */
static vyre_var build_reduce(vyre_builder *b, vyre_stmt_op kind, const char *name,
                             vyre_reduce_op op, vyre_expr value, vyre_expr lane) {
    if (vyre_builder_ok(b) &&
        ((unsigned)op >= VYRE_REDUCE_COUNT ||
         (kind != VYRE_STMT_GROUP && vyre_reduce_name(op, true)[0] == '\0'))) {
        vyre_builder_misuse(b, "no such operation over a group or the grid");
        return VYRE_NONE;
    }
    vyre_stmt_node node = blank(kind);
    node.sub = (uint8_t)op;
    if (name) {
        node.var = add_var(b, name, vyre_reduce_type(op, vyre_builder_expr_type(b, value)),
                           VYRE_VAR_LOCAL);
    }
    (void)add_plain(b, node, value, lane, VYRE_NONE);
    return node.var;
}

vyre_var vyre_build_group_reduce(vyre_builder *b, const char *name, vyre_reduce_op op,
                                 vyre_expr value, vyre_expr lane) {
    return build_reduce(b, VYRE_STMT_GROUP, name, op, value, lane);
}

vyre_var vyre_build_grid_reduce(vyre_builder *b, const char *name, vyre_reduce_op op,
                                vyre_expr value) {
    return build_reduce(b, VYRE_STMT_GRID, name, op, value, VYRE_NONE);
}

void vyre_build_part(vyre_builder *b, uint32_t number, vyre_reduce_op op, vyre_expr value) {
    vyre_stmt_node node = blank(VYRE_STMT_PART);
    node.sub = (uint8_t)op;
    node.fn = number;
    (void)add_plain(b, node, value, VYRE_NONE, VYRE_NONE);
}

/* A COMBINE or BASE that binds a value of the type. */
static vyre_var build_whole(vyre_builder *b, vyre_stmt_op kind, const char *name, uint32_t number,
                            vyre_reduce_op op, vyre_type type) {
    vyre_stmt_node node = blank(kind);
    node.sub = (uint8_t)op;
    node.fn = number;
    node.var = name ? add_var(b, name, type, VYRE_VAR_LOCAL) : VYRE_NONE;
    (void)add_plain(b, node, VYRE_NONE, VYRE_NONE, VYRE_NONE);
    return node.var;
}

vyre_var vyre_build_combine(vyre_builder *b, const char *name, uint32_t number, vyre_reduce_op op,
                            vyre_type type) {
    return build_whole(b, VYRE_STMT_COMBINE, name, number, op, type);
}

vyre_var vyre_build_base(vyre_builder *b, const char *name, uint32_t number, vyre_reduce_op op,
                         vyre_type type) {
    return build_whole(b, VYRE_STMT_BASE, name, number, op, type);
}

vyre_var vyre_build_call(vyre_builder *b, const char *name, vyre_fn fn, const vyre_expr *args,
                         uint32_t arg_count) {
    if (!vyre_builder_ok(b)) {
        return VYRE_NONE;
    }
    if (fn >= b->fns.count || arg_count > VYRE_LIMIT_ARGUMENTS) {
        vyre_builder_misuse(b, "no such function, or too many arguments");
        return VYRE_NONE;
    }
    vyre_stmt_node node = blank(VYRE_STMT_CALL);
    node.fn = fn;
    if (name) {
        node.var = add_var(b, name, (vyre_type)b->fns.data[fn].node.type, VYRE_VAR_LOCAL);
    }
    vyre_body *to = vyre_builder_code(b);
    uint32_t first_expr = to->exprs.count;
    node.first_arg = b->args.count;
    node.arg_count = arg_count;
    for (uint32_t i = 0; i < arg_count; i++) {
        vyre_expr root = vyre_builder_commit(b, to, args[i], false);
        if (vyre_builder_ok(b) && !vyre_vec_push(&b->allocator, &b->args, root)) {
            vyre_builder_fail_memory(b);
        }
    }
    vyre_stmt stmt = add_stmt(b, node, NULL, in_order, 0);
    if (stmt != VYRE_NONE) {
        to->stmts.data[stmt].first_expr = first_expr;
    }
    return node.var;
}

static void open_list_at(vyre_builder *b, vyre_stmt opener) {
    if (opener != VYRE_NONE &&
        !vyre_vec_push(&b->allocator, &vyre_builder_code(b)->open,
                       (vyre_open_list){.opener = opener, .middle = VYRE_NONE})) {
        vyre_builder_fail_memory(b);
    }
}

void vyre_build_if(vyre_builder *b, vyre_expr condition) {
    open_list_at(b, add_plain(b, blank(VYRE_STMT_IF), condition, VYRE_NONE, VYRE_NONE));
}

void vyre_build_else(vyre_builder *b) {
    if (!vyre_builder_ok(b)) {
        return;
    }
    vyre_body *to = vyre_builder_code(b);
    vyre_open_list *top = to->open.count ? &to->open.data[to->open.count - 1] : NULL;
    if (!top || to->stmts.data[top->opener].op != VYRE_STMT_IF || top->middle != VYRE_NONE) {
        vyre_builder_misuse(b, "else without an if");
        return;
    }
    vyre_stmt opener = top->opener;
    vyre_stmt stmt = add_plain(b, blank(VYRE_STMT_ELSE), VYRE_NONE, VYRE_NONE, VYRE_NONE);
    if (stmt != VYRE_NONE) {
        to->stmts.data[opener].match = stmt;
        to->open.data[to->open.count - 1].middle = stmt;
    }
}

vyre_var vyre_build_for(vyre_builder *b, const char *name, vyre_expr from, vyre_expr to,
                        vyre_expr step) {
    vyre_stmt_node node = blank(VYRE_STMT_FOR);
    node.var = add_var(b, name, VYRE_U32, VYRE_VAR_LOOP);
    open_list_at(b, add_plain(b, node, from, to, step));
    return node.var;
}

void vyre_build_while(vyre_builder *b, vyre_expr condition) {
    open_list_at(b, add_plain(b, blank(VYRE_STMT_WHILE), condition, VYRE_NONE, VYRE_NONE));
}

void vyre_build_block(vyre_builder *b) {
    open_list_at(b, add_plain(b, blank(VYRE_STMT_BLOCK), VYRE_NONE, VYRE_NONE, VYRE_NONE));
}

static const char *intern_text(vyre_builder *b, const char *text) {
    if (!text || strlen(text) > VYRE_LIMIT_NAME) {
        vyre_builder_misuse(b, "a region name or tag is missing or too long");
        return NULL;
    }
    return vyre_builder_intern(b, text);
}

void vyre_build_region(vyre_builder *b, const char *name) {
    if (!vyre_builder_ok(b)) {
        return;
    }
    vyre_stmt_node node = blank(VYRE_STMT_REGION);
    node.text = intern_text(b, name);
    open_list_at(b, add_plain(b, node, VYRE_NONE, VYRE_NONE, VYRE_NONE));
}

void vyre_build_end(vyre_builder *b) {
    if (!vyre_builder_ok(b)) {
        return;
    }
    vyre_body *to = vyre_builder_code(b);
    if (to->open.count == 0) {
        vyre_builder_misuse(b, "end without an opener");
        return;
    }
    vyre_open_list top = to->open.data[--to->open.count];
    vyre_stmt_node node = blank(VYRE_STMT_END);
    node.match = top.opener;
    vyre_stmt stmt = add_plain(b, node, VYRE_NONE, VYRE_NONE, VYRE_NONE);
    if (stmt != VYRE_NONE) {
        to->stmts.data[top.middle == VYRE_NONE ? top.opener : top.middle].match = stmt;
    }
}

static void add_jump(vyre_builder *b, vyre_stmt_op op) {
    if (!vyre_builder_ok(b)) {
        return;
    }
    vyre_body *to = vyre_builder_code(b);
    vyre_stmt_node node = blank(op);
    for (uint32_t i = to->open.count; i-- > 0;) {
        uint8_t opener = to->stmts.data[to->open.data[i].opener].op;
        if (opener == VYRE_STMT_FOR || opener == VYRE_STMT_WHILE) {
            node.match = to->open.data[i].opener;
            break;
        }
    }
    (void)add_plain(b, node, VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

void vyre_build_break(vyre_builder *b) {
    add_jump(b, VYRE_STMT_BREAK);
}

void vyre_build_continue(vyre_builder *b) {
    add_jump(b, VYRE_STMT_CONTINUE);
}

void vyre_build_exit(vyre_builder *b) {
    (void)add_plain(b, blank(VYRE_STMT_EXIT), VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

void vyre_build_return(vyre_builder *b, vyre_expr value) {
    (void)add_plain(b, blank(VYRE_STMT_RETURN), value, VYRE_NONE, VYRE_NONE);
}

void vyre_build_barrier(vyre_builder *b, vyre_ordering ordering) {
    if (vyre_builder_ok(b) && (unsigned)ordering >= VYRE_ORDERING_COUNT) {
        vyre_builder_misuse(b, "no such ordering");
    }
    vyre_stmt_node node = blank(VYRE_STMT_BARRIER);
    node.ordering = (uint8_t)ordering;
    (void)add_plain(b, node, VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

void vyre_build_grid_sync(vyre_builder *b) {
    (void)add_plain(b, blank(VYRE_STMT_GRID_SYNC), VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

void vyre_build_trap(vyre_builder *b, const char *tag, vyre_expr address) {
    if (!vyre_builder_ok(b)) {
        return;
    }
    vyre_stmt_node node = blank(VYRE_STMT_TRAP);
    node.text = intern_text(b, tag);
    (void)add_plain(b, node, address, VYRE_NONE, VYRE_NONE);
}

static void add_async(vyre_builder *b, vyre_stmt_op op, vyre_decl source, vyre_decl destination,
                      vyre_expr offset, vyre_expr size, const char *tag) {
    if (!vyre_builder_is_decl(b, source, true) || !vyre_builder_is_decl(b, destination, true)) {
        return;
    }
    vyre_stmt_node node = blank(op);
    node.decl = source;
    node.decl2 = destination;
    node.text = intern_text(b, tag);
    (void)add_plain(b, node, offset, size, VYRE_NONE);
}

void vyre_build_async_load(vyre_builder *b, vyre_decl source, vyre_decl destination,
                           vyre_expr offset, vyre_expr size, const char *tag) {
    add_async(b, VYRE_STMT_ASYNC_LOAD, source, destination, offset, size, tag);
}

void vyre_build_async_store(vyre_builder *b, vyre_decl source, vyre_decl destination,
                            vyre_expr offset, vyre_expr size, const char *tag) {
    add_async(b, VYRE_STMT_ASYNC_STORE, source, destination, offset, size, tag);
}

void vyre_build_async_wait(vyre_builder *b, const char *tag) {
    if (!vyre_builder_ok(b)) {
        return;
    }
    vyre_stmt_node node = blank(VYRE_STMT_ASYNC_WAIT);
    node.text = intern_text(b, tag);
    (void)add_plain(b, node, VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

static void add_collective(vyre_builder *b, vyre_stmt_op op, vyre_collective_op reduction,
                           vyre_decl input, vyre_decl output, vyre_expr group, vyre_expr root) {
    if (!vyre_builder_is_decl(b, input, true) ||
        (output != VYRE_NONE && !vyre_builder_is_decl(b, output, true))) {
        return;
    }
    if ((unsigned)reduction >= VYRE_COLLECTIVE_COUNT) {
        vyre_builder_misuse(b, "no such collective operation");
        return;
    }
    vyre_stmt_node node = blank(op);
    node.sub = (uint8_t)reduction;
    node.decl = input;
    node.decl2 = output;
    (void)add_plain(b, node, group, root, VYRE_NONE);
}

void vyre_build_all_reduce(vyre_builder *b, vyre_decl buffer, vyre_collective_op op,
                           vyre_expr group) {
    add_collective(b, VYRE_STMT_ALL_REDUCE, op, buffer, VYRE_NONE, group, VYRE_NONE);
}

void vyre_build_all_gather(vyre_builder *b, vyre_decl input, vyre_decl output, vyre_expr group) {
    add_collective(b, VYRE_STMT_ALL_GATHER, VYRE_COLLECTIVE_SUM, input, output, group, VYRE_NONE);
}

void vyre_build_reduce_scatter(vyre_builder *b, vyre_decl input, vyre_decl output,
                               vyre_collective_op op, vyre_expr group) {
    add_collective(b, VYRE_STMT_REDUCE_SCATTER, op, input, output, group, VYRE_NONE);
}

void vyre_build_broadcast(vyre_builder *b, vyre_decl buffer, vyre_expr root, vyre_expr group) {
    add_collective(b, VYRE_STMT_BROADCAST, VYRE_COLLECTIVE_SUM, buffer, VYRE_NONE, group, root);
}

void vyre_build_swap(vyre_builder *b, vyre_decl x, vyre_decl y) {
    if (!vyre_builder_is_decl(b, x, true) || !vyre_builder_is_decl(b, y, true)) {
        return;
    }
    vyre_stmt_node node = blank(VYRE_STMT_SWAP);
    node.decl = x;
    node.decl2 = y;
    (void)add_plain(b, node, VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

void vyre_build_indirect_dispatch(vyre_builder *b, vyre_decl buffer, vyre_expr offset) {
    if (!vyre_builder_is_decl(b, buffer, true)) {
        return;
    }
    vyre_stmt_node node = blank(VYRE_STMT_INDIRECT_DISPATCH);
    node.decl = buffer;
    (void)add_plain(b, node, offset, VYRE_NONE, VYRE_NONE);
}

/* Functions */

vyre_fn vyre_build_fn(vyre_builder *b, const char *name, const char *const *arg_names,
                      const vyre_type *arg_types, uint32_t arg_count, vyre_type result) {
    if (!vyre_builder_ok(b)) {
        return VYRE_NONE;
    }
    if (b->fns.count >= VYRE_LIMIT_FUNCTIONS || arg_count > VYRE_LIMIT_ARGUMENTS) {
        vyre_builder_fail(b, VYRE_LIMIT, "use fewer", "more than %d functions or %d arguments",
                          (int)VYRE_LIMIT_FUNCTIONS, (int)VYRE_LIMIT_ARGUMENTS);
        return VYRE_NONE;
    }
    if (name && vyre_name_is_operation(name, strlen(name))) {
        vyre_builder_fail(b, VYRE_INVALID_ARGUMENT, "choose another name",
                          "`%s` is an operation, and a function can't have its name", name);
        return VYRE_NONE;
    }
    vyre_fn fn = b->fns.count;
    vyre_builder_function node = {.node = {.name = vyre_builder_intern_name(b, name),
                                           .type = (uint8_t)result,
                                           .first_var = b->vars.count,
                                           .arg_count = arg_count},
                                  .place = b->place};
    if (vyre_builder_ok(b) && !vyre_vec_push(&b->allocator, &b->fns, node)) {
        vyre_builder_fail_memory(b);
    }
    vyre_fn outer = b->current;
    b->current = fn;
    for (uint32_t i = 0; i < arg_count; i++) {
        (void)add_var(b, arg_names[i], arg_types[i], VYRE_VAR_ARGUMENT);
    }
    b->current = outer;
    return vyre_builder_ok(b) ? fn : VYRE_NONE;
}

static void add_effects(vyre_builder *b, const vyre_decl *decls, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (vyre_builder_is_decl(b, decls[i], true) &&
            !vyre_vec_push(&b->allocator, &b->args, decls[i])) {
            vyre_builder_fail_memory(b);
        }
    }
}

void vyre_build_fn_opaque(vyre_builder *b, vyre_fn fn, const vyre_decl *reads, uint32_t read_count,
                          const vyre_decl *writes, uint32_t write_count) {
    if (!vyre_builder_ok(b)) {
        return;
    }
    if (fn >= b->fns.count) {
        vyre_builder_misuse(b, "no such function");
        return;
    }
    vyre_fn_node *node = &b->fns.data[fn].node;
    node->opaque = true;
    node->first_effect = b->args.count;
    node->reads = read_count;
    node->writes = write_count;
    add_effects(b, reads, read_count);
    add_effects(b, writes, write_count);
}

vyre_var vyre_build_fn_argument(vyre_builder *b, vyre_fn fn, uint32_t index) {
    if (!vyre_builder_ok(b)) {
        return VYRE_NONE;
    }
    if (fn >= b->fns.count || index >= b->fns.data[fn].node.arg_count) {
        vyre_builder_misuse(b, "no such function or argument");
        return VYRE_NONE;
    }
    return b->fns.data[fn].node.first_var + index;
}

void vyre_build_fn_begin(vyre_builder *b, vyre_fn fn) {
    if (!vyre_builder_ok(b)) {
        return;
    }
    if (fn >= b->fns.count || b->current != VYRE_NONE || b->fns.data[fn].begun) {
        vyre_builder_misuse(b, "a function body can't begin here");
        return;
    }
    b->fns.data[fn].begun = true;
    b->current = fn;
}

void vyre_build_fn_end(vyre_builder *b) {
    if (!vyre_builder_ok(b)) {
        return;
    }
    if (b->current == VYRE_NONE || vyre_builder_code(b)->open.count != 0) {
        vyre_builder_misuse(b, "a function body can't end here");
        return;
    }
    b->fns.data[b->current].ended = true;
    b->current = VYRE_NONE;
}
