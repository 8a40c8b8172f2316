/* What single statements do with memory, functions and other lanes. */
#include "analysis/checker.h"
#include "ir/size.h"
#include "ir/waits.h"

static bool writable(const vyre_decl_node *decl) {
    return decl->role != VYRE_IN && vyre_role_is_memory((vyre_role)decl->role) &&
           decl->access != VYRE_ACCESS_READ;
}

static const char *role_of(const vyre_decl_node *decl) {
    return vyre_role_name((vyre_role)decl->role);
}

static void check_written(vyre_checker *c, vyre_stmt at, vyre_decl decl) {
    const vyre_decl_node *node = &c->p->decls[decl];
    if (!writable(node)) {
        vyre_checker_error(c, "V063", vyre_checker_at(c, at), "declare it as inout or out",
                           "`%s` is read only", node->name);
    }
}

static void check_read(vyre_checker *c, vyre_stmt at, vyre_decl decl) {
    const vyre_decl_node *node = &c->p->decls[decl];
    if (node->access == VYRE_ACCESS_WRITE) {
        vyre_checker_error(c, "V251", vyre_checker_at(c, at), "declare it as readable",
                           "`%s` is write-only here", node->name);
    }
}

void vyre_check_store(vyre_checker *c, vyre_stmt at) {
    const vyre_stmt_node *stmt = &c->p->stmts[at];
    const vyre_type want = vyre_type_widened((vyre_type)c->p->decls[stmt->decl].type);
    check_written(c, at, stmt->decl);
    vyre_check_type(c, stmt->arg[0], VYRE_U32, "V122", "the index");
    vyre_check_index(c, stmt->decl, stmt->arg[0]);
    vyre_check_type(c, stmt->arg[1], want, "V121", "the stored value");
}

void vyre_check_atomic(vyre_checker *c, vyre_stmt at) {
    const vyre_stmt_node *stmt = &c->p->stmts[at];
    const vyre_decl_node *decl = &c->p->decls[stmt->decl];
    const vyre_atomic_op op = (vyre_atomic_op)stmt->sub;
    const vyre_type type = (vyre_type)decl->type;
    const bool integer = vyre_type_is_integer(type) && vyre_type_computes(type);
    const bool real = type == VYRE_F32 || type == VYRE_F64;
    const uint32_t values = vyre_atomic_values(op);
    const bool reads = op == VYRE_ATOMIC_LOAD && decl->access != VYRE_ACCESS_WRITE;
    if (decl->role == VYRE_PRIVATE ||
        !(reads || (writable(decl) && decl->access == VYRE_ACCESS_FULL))) {
        vyre_checker_error(c, "V009", vyre_checker_at(c, at),
                           "use an inout, out, scratch or workgroup array",
                           "atomics can't work on %s `%s`", role_of(decl), decl->name);
    } else if (!integer && !(real && vyre_atomic_takes_floats(op))) {
        vyre_checker_error(c, "V271", vyre_checker_at(c, at),
                           real ? "floats have load, store, add, min, max and exchange"
                                : "use elements of 32 or 64 bits",
                           "%s can't work on elements of type %s", vyre_atomic_name(op),
                           vyre_type_name(type));
    } else {
        if (values != 0) {
            vyre_check_type(c, stmt->arg[1], type, "V057", "the value");
        }
        if (values == 2 && stmt->arg[2] != VYRE_NONE) {
            vyre_check_type(c, stmt->arg[2], type, "V058", "the expected value");
        }
    }
    vyre_check_type(c, stmt->arg[0], VYRE_U32, "V027", "the index");
    vyre_check_index(c, stmt->decl, stmt->arg[0]);
    if ((values == 2) != (stmt->arg[2] != VYRE_NONE)) {
        const bool lacks = values == 2;
        vyre_checker_error(c, lacks ? "V059" : "V060", vyre_checker_at(c, at),
                           lacks ? "give the expected value" : "remove the expected value",
                           lacks ? "%s needs an expected value" : "%s takes no expected value",
                           vyre_atomic_name(op));
    }
}

void vyre_check_subgroup(vyre_checker *c, vyre_stmt at) {
    const vyre_stmt_node *stmt = &c->p->stmts[at];
    const vyre_subgroup_op op = (vyre_subgroup_op)stmt->sub;
    const vyre_type type = (vyre_type)c->p->exprs[stmt->arg[0]].type;
    const bool bad = c->bad_expr[stmt->arg[0]];
    if (!bad && !vyre_operands_accept(vyre_subgroup_operands(op), 0, type)) {
        const bool bits = vyre_subgroup_operands(op) == VYRE_OPERANDS_INTEGER;
        vyre_checker_error(c, bits && vyre_type_is_float(type) ? "V047" : "V097",
                           vyre_program_expr_place(c->program, stmt->arg[0]),
                           "convert it with a cast", "%s can't work on %s", vyre_subgroup_name(op),
                           vyre_type_name(type));
    }
    if (stmt->var != VYRE_NONE && vyre_subgroup_operands(op) != VYRE_OPERANDS_LOGIC) {
        c->bad_var[stmt->var] = bad;
    }
    if (vyre_subgroup_asks(op) != (stmt->arg[1] != VYRE_NONE)) {
        vyre_checker_error(c, "V270", vyre_checker_at(c, at), "only shuffles take a lane",
                           "%s with%s a lane", vyre_subgroup_name(op),
                           stmt->arg[1] == VYRE_NONE ? "out" : "");
    } else if (stmt->arg[1] != VYRE_NONE) {
        vyre_check_type(c, stmt->arg[1], VYRE_U32, "V270", "the lane");
    }
}

void vyre_check_reduction(vyre_checker *c, vyre_stmt at) {
    const vyre_stmt_node *stmt = &c->p->stmts[at];
    const vyre_reduce_op op = (vyre_reduce_op)stmt->sub;
    const vyre_operands operands = vyre_reduce_operands(op);
    const vyre_type type = (vyre_type)c->p->exprs[stmt->arg[0]].type;
    const bool bad = c->bad_expr[stmt->arg[0]];
    if (!bad && !vyre_operands_accept(operands, 0, type)) {
        vyre_checker_error(c, "V272", vyre_program_expr_place(c->program, stmt->arg[0]),
                           operands == VYRE_OPERANDS_LOGIC ? "compare it with something"
                                                           : "convert it with a cast",
                           "%s can't work on %s", vyre_reduce_stmt_name(stmt),
                           vyre_type_name(type));
    }
    if (stmt->var != VYRE_NONE && operands != VYRE_OPERANDS_LOGIC) {
        c->bad_var[stmt->var] = bad;
    }
    if ((op == VYRE_REDUCE_BROADCAST) != (stmt->arg[1] != VYRE_NONE)) {
        vyre_checker_error(c, "V272", vyre_checker_at(c, at), "only group_broadcast takes a lane",
                           "%s with%s a lane", vyre_reduce_stmt_name(stmt),
                           stmt->arg[1] == VYRE_NONE ? "out" : "");
    } else if (stmt->arg[1] != VYRE_NONE) {
        vyre_check_type(c, stmt->arg[1], VYRE_U32, "V272", "the lane");
    }
}

void vyre_check_call(vyre_checker *c, vyre_stmt at) {
    const vyre_stmt_node *stmt = &c->p->stmts[at];
    const vyre_fn_node *fn = &c->p->fns[stmt->fn];
    if (stmt->var != VYRE_NONE && !vyre_type_computes((vyre_type)fn->type)) {
        c->bad_var[stmt->var] = true;
        if (fn->type == VYRE_VOID) {
            vyre_checker_error(c, "V225", vyre_checker_at(c, at),
                               "call it as a statement, or let it return a value",
                               "`%s` returns no value", fn->name);
        }
    }
    if (stmt->arg_count != fn->arg_count) {
        vyre_checker_error(c, "V021", vyre_checker_at(c, at), "pass as many as it takes",
                           "`%s` takes %u argument%s, not %u", fn->name, fn->arg_count,
                           fn->arg_count == 1 ? "" : "s", stmt->arg_count);
        return;
    }
    for (uint32_t i = 0; i < stmt->arg_count; i++) {
        const vyre_var_node *arg = &c->p->vars[fn->first_var + i];
        if (vyre_type_computes((vyre_type)arg->type)) {
            vyre_check_type(c, c->p->args[stmt->first_arg + i], (vyre_type)arg->type, "V052",
                            "the argument");
        }
    }
}

void vyre_check_async(vyre_checker *c, vyre_stmt at) {
    const vyre_stmt_node *stmt = &c->p->stmts[at];
    check_read(c, at, stmt->decl);
    check_written(c, at, stmt->decl2);
    vyre_check_type(c, stmt->arg[0], VYRE_U32, "V266", "the byte offset");
    vyre_check_type(c, stmt->arg[1], VYRE_U32, "V266", "the number of bytes");
}

static bool check_collective_role(vyre_checker *c, vyre_stmt at, vyre_decl decl, bool writes) {
    const vyre_decl_node *node = &c->p->decls[decl];
    if (!vyre_role_is_buffer((vyre_role)node->role) || (writes && !writable(node)) ||
        (!writes && node->access == VYRE_ACCESS_WRITE)) {
        vyre_checker_error(c, "V046", vyre_checker_at(c, at),
                           writes ? "use an inout, out or scratch buffer" : "use a buffer",
                           "a collective can't %s %s `%s`", writes ? "write" : "read",
                           role_of(node), node->name);
        return false;
    }
    return true;
}

void vyre_check_collective(vyre_checker *c, vyre_stmt at) {
    const vyre_stmt_node *stmt = &c->p->stmts[at];
    const bool two = stmt->op == VYRE_STMT_ALL_GATHER || stmt->op == VYRE_STMT_REDUCE_SCATTER;
    const bool reduces = stmt->op == VYRE_STMT_ALL_REDUCE || stmt->op == VYRE_STMT_REDUCE_SCATTER;
    const vyre_type type = (vyre_type)c->p->decls[stmt->decl].type;
    if (!check_collective_role(c, at, stmt->decl, !two) ||
        (two && !check_collective_role(c, at, stmt->decl2, true))) {
        return;
    }
    if (two && type != c->p->decls[stmt->decl2].type) {
        vyre_checker_error(c, "V046", vyre_checker_at(c, at), "use buffers of one element type",
                           "a collective from %s to %s elements", vyre_type_name(type),
                           vyre_type_name((vyre_type)c->p->decls[stmt->decl2].type));
    }
    const bool bits = stmt->sub >= VYRE_COLLECTIVE_AND;
    if (reduces && (type == VYRE_BOOL || (bits && vyre_type_is_float(type)))) {
        vyre_checker_error(c, "V047", vyre_checker_at(c, at),
                           bits ? "use an integer buffer" : "use a buffer of numbers",
                           "a collective can't %s %s elements",
                           vyre_collective_name((vyre_collective_op)stmt->sub),
                           vyre_type_name(type));
    }
    if (stmt->arg[0] != VYRE_NONE && (c->p->exprs[stmt->arg[0]].op != VYRE_EXPR_LITERAL ||
                                      c->p->exprs[stmt->arg[0]].type != VYRE_U32)) {
        vyre_checker_error(c, "V262", vyre_program_expr_place(c->program, stmt->arg[0]),
                           "write the number of the group",
                           "the group of a collective is not a u32 literal");
    }
    if (stmt->op == VYRE_STMT_BROADCAST) {
        vyre_check_type(c, stmt->arg[1], VYRE_U32, "V262", "the root of a broadcast");
    }
}

static bool constant_size(const vyre_checker *c, vyre_decl decl, uint64_t *out) {
    const vyre_size_env env = {0};
    vyre_decl unknown;
    const vyre_expr size = c->p->decls[decl].size;
    return size != VYRE_NONE && vyre_size_evaluate(c->p, size, &env, out, &unknown) == VYRE_SIZE_OK;
}

/* As far as they are constants; the dispatch compares the others. */
static void check_same_dimensions(vyre_checker *c, vyre_stmt at) {
    const vyre_stmt_node *stmt = &c->p->stmts[at];
    const vyre_decl_node *x = &c->p->decls[stmt->decl], *y = &c->p->decls[stmt->decl2];
    const vyre_size_env nothing = {.len = NULL};
    if (x->rank != y->rank) {
        vyre_checker_error(c, "V282", vyre_checker_at(c, at), "swap memory of the same dimensions",
                           "`%s` has %u dimension%s, `%s` has %u", x->name, x->rank,
                           x->rank == 1 ? "" : "s", y->name, y->rank);
        return;
    }
    for (uint32_t i = 1; i < x->rank; i++) {
        uint64_t sizes[2];
        if (vyre_size_evaluate(c->p, vyre_decl_dimension(c->p, stmt->decl, i), &nothing, &sizes[0],
                               NULL) == VYRE_SIZE_OK &&
            vyre_size_evaluate(c->p, vyre_decl_dimension(c->p, stmt->decl2, i), &nothing, &sizes[1],
                               NULL) == VYRE_SIZE_OK &&
            sizes[0] != sizes[1]) {
            vyre_checker_error(c, "V282", vyre_checker_at(c, at),
                               "swap memory of the same dimensions",
                               "dimension %u of `%s` is %llu, of `%s` %llu", i, x->name,
                               (unsigned long long)sizes[0], y->name, (unsigned long long)sizes[1]);
        }
    }
}

void vyre_check_swap(vyre_checker *c, vyre_stmt at) {
    const vyre_stmt_node *stmt = &c->p->stmts[at];
    const vyre_decl both[2] = {stmt->decl, stmt->decl2};
    uint64_t sizes[2];
    for (int i = 0; i < 2; i++) {
        const vyre_decl_node *node = &c->p->decls[both[i]];
        if (!vyre_role_is_buffer((vyre_role)node->role) || !writable(node) ||
            node->access == VYRE_ACCESS_WRITE) {
            vyre_checker_error(c, "V282", vyre_checker_at(c, at),
                               "swap two of inout, out and scratch", "%s `%s` can't be swapped",
                               role_of(node), node->name);
            return;
        }
    }
    const vyre_decl_node *x = &c->p->decls[both[0]], *y = &c->p->decls[both[1]];
    if (x->type != y->type) {
        vyre_checker_error(c, "V282", vyre_checker_at(c, at), "swap buffers of one element type",
                           "`%s` has %s elements, `%s` has %s", x->name,
                           vyre_type_name((vyre_type)x->type), y->name,
                           vyre_type_name((vyre_type)y->type));
    } else if (constant_size(c, both[0], &sizes[0]) && constant_size(c, both[1], &sizes[1]) &&
               sizes[0] != sizes[1]) {
        vyre_checker_error(c, "V282", vyre_checker_at(c, at), "swap buffers of one size",
                           "`%s` has %llu elements, `%s` has %llu", x->name,
                           (unsigned long long)sizes[0], y->name, (unsigned long long)sizes[1]);
    } else {
        check_same_dimensions(c, at);
    }
}

void vyre_check_indirect(vyre_checker *c, vyre_stmt at) {
    const vyre_stmt_node *stmt = &c->p->stmts[at];
    const vyre_decl_node *decl = &c->p->decls[stmt->decl];
    int64_t offset;
    if (!vyre_role_is_buffer((vyre_role)decl->role)) {
        vyre_checker_error(c, "V127", vyre_checker_at(c, at), "use a buffer",
                           "the grid can't be read from %s `%s`", role_of(decl), decl->name);
    }
    if (!c->bad_expr[stmt->arg[0]] &&
        (!vyre_checker_constant(c, stmt->arg[0], &offset) || offset < 0 || offset % 4 != 0)) {
        vyre_checker_error(c, "V126", vyre_program_expr_place(c->program, stmt->arg[0]),
                           "use a constant such as 0 or 12",
                           "the byte offset is not a constant multiple of 4");
    }
}
