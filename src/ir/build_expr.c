/* Building expressions: nodes in a pool, and their copies in bodies. */
#include <string.h>

#include "ir/builder_state.h"

/* Deeper than the validator allows in sources, so that rewrites have room. */
enum { DEPTH = VYRE_BUILDER_EXPR_DEPTH };

static vyre_expr add_expr(vyre_builder *b, vyre_expr_node node) {
    if (!vyre_builder_ok(b)) {
        return VYRE_NONE;
    }
    uint32_t depth = 1;
    for (uint32_t i = 0; i < vyre_expr_arity(&node); i++) {
        if (node.u.arg[i] >= b->pool.count) {
            vyre_builder_misuse(b, "an operand is not an expression of this builder");
            return VYRE_NONE;
        }
        uint32_t below = b->pool.data[node.u.arg[i]].depth;
        depth = below + 1 > depth ? below + 1 : depth;
    }
    if (depth > DEPTH) {
        vyre_builder_fail(b, VYRE_LIMIT, "bind parts of the expression with let",
                          "an expression is more than %d deep", (int)DEPTH);
        return VYRE_NONE;
    }
    if (!vyre_vec_push(&b->allocator, &b->pool,
                       (vyre_pool_node){.node = node, .place = b->place, .depth = depth})) {
        vyre_builder_fail_memory(b);
        return VYRE_NONE;
    }
    return b->pool.count - 1;
}

vyre_type vyre_builder_expr_type(const vyre_builder *b, vyre_expr expr) {
    return expr < b->pool.count ? (vyre_type)b->pool.data[expr].node.type : VYRE_VOID;
}

bool vyre_builder_is_leaf(const vyre_builder *b, vyre_expr expr) {
    return expr < b->pool.count && vyre_expr_arity(&b->pool.data[expr].node) == 0;
}

vyre_type vyre_builder_var_type(const vyre_builder *b, vyre_var var) {
    return var < b->vars.count ? (vyre_type)b->vars.data[var].type : VYRE_VOID;
}

vyre_expr vyre_build_literal(vyre_builder *b, vyre_type type, uint64_t bits) {
    if (!vyre_type_computes(type)) {
        vyre_builder_misuse(b, "a literal needs a computing type");
        return VYRE_NONE;
    }
    if (vyre_type_size(type) == 4) {
        bits &= UINT32_MAX;
    }
    if (type == VYRE_BOOL) {
        bits = bits != 0;
    }
    bool finite = type == VYRE_F32   ? (bits >> 23 & 0xff) != 0xff
                  : type == VYRE_F64 ? (bits >> 52 & 0x7ff) != 0x7ff
                                     : true;
    if (!finite) { /* there is no spelling for inf and nan; their bits have one */
        vyre_type carrier = type == VYRE_F32 ? VYRE_U32 : VYRE_U64;
        return vyre_build_bitcast(b, type, vyre_build_literal(b, carrier, bits));
    }
    return add_expr(
        b, (vyre_expr_node){
               .op = VYRE_EXPR_LITERAL, .type = (uint8_t)type, .ref = VYRE_NONE, .u.bits = bits});
}

vyre_expr vyre_build_u32(vyre_builder *b, uint32_t value) {
    return vyre_build_literal(b, VYRE_U32, value);
}

vyre_expr vyre_build_i32(vyre_builder *b, int32_t value) {
    return vyre_build_literal(b, VYRE_I32, (uint32_t)value);
}

vyre_expr vyre_build_f32(vyre_builder *b, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return vyre_build_literal(b, VYRE_F32, bits);
}

vyre_expr vyre_build_f64(vyre_builder *b, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return vyre_build_literal(b, VYRE_F64, bits);
}

vyre_expr vyre_build_bool(vyre_builder *b, bool value) {
    return vyre_build_literal(b, VYRE_BOOL, value);
}

vyre_expr vyre_build_size(vyre_builder *b, int64_t value) {
    return vyre_build_literal(b, VYRE_I64, (uint64_t)value);
}

vyre_expr vyre_build_var(vyre_builder *b, vyre_var var) {
    if (var >= b->vars.count) {
        vyre_builder_misuse(b, "no such variable");
        return VYRE_NONE;
    }
    return add_expr(
        b, (vyre_expr_node){.op = VYRE_EXPR_VAR, .type = b->vars.data[var].type, .ref = var});
}

vyre_expr vyre_build_ref(vyre_builder *b, vyre_decl decl) {
    if (!vyre_builder_is_decl(b, decl, false)) {
        return VYRE_NONE;
    }
    return add_expr(
        b, (vyre_expr_node){.op = VYRE_EXPR_REF, .type = b->decls.data[decl].type, .ref = decl});
}

vyre_expr vyre_build_len(vyre_builder *b, vyre_decl buffer) {
    if (!vyre_builder_is_decl(b, buffer, true)) {
        return VYRE_NONE;
    }
    return add_expr(b, (vyre_expr_node){.op = VYRE_EXPR_LEN, .type = VYRE_U32, .ref = buffer});
}

vyre_expr vyre_build_id(vyre_builder *b, vyre_builtin id, uint32_t axis) {
    if ((unsigned)id >= VYRE_BUILTIN_COUNT || axis >= vyre_builtin_axes(id)) {
        vyre_builder_misuse(b, "no such built-in id or axis");
        return VYRE_NONE;
    }
    return add_expr(b, (vyre_expr_node){.op = VYRE_EXPR_BUILTIN,
                                        .type = VYRE_U32,
                                        .sub = (uint8_t)id,
                                        .axis = (uint8_t)axis,
                                        .ref = VYRE_NONE});
}

vyre_expr vyre_build_load(vyre_builder *b, vyre_decl memory, vyre_expr index) {
    if (!vyre_builder_is_decl(b, memory, true)) {
        return VYRE_NONE;
    }
    vyre_type element = (vyre_type)b->decls.data[memory].type;
    return add_expr(b, (vyre_expr_node){.op = VYRE_EXPR_LOAD,
                                        .type = (uint8_t)vyre_type_widened(element),
                                        .ref = memory,
                                        .u.arg = {index}});
}

vyre_expr vyre_build_cast(vyre_builder *b, vyre_type target, vyre_expr value) {
    if ((unsigned)target >= VYRE_TYPE_COUNT || target == VYRE_VOID) {
        vyre_builder_misuse(b, "a cast needs a type");
        return VYRE_NONE;
    }
    return add_expr(b, (vyre_expr_node){.op = VYRE_EXPR_CAST,
                                        .type = (uint8_t)vyre_type_widened(target),
                                        .sub = (uint8_t)target,
                                        .ref = VYRE_NONE,
                                        .u.arg = {value}});
}

vyre_expr vyre_build_bitcast(vyre_builder *b, vyre_type target, vyre_expr value) {
    if (!vyre_type_computes(target)) {
        vyre_builder_misuse(b, "a bitcast needs a computing type");
        return VYRE_NONE;
    }
    return add_expr(b, (vyre_expr_node){.op = VYRE_EXPR_BITCAST,
                                        .type = (uint8_t)target,
                                        .ref = VYRE_NONE,
                                        .u.arg = {value}});
}

static vyre_type result_type(const vyre_builder *b, vyre_expr_op op, vyre_expr x, vyre_expr y) {
    vyre_type first = vyre_builder_expr_type(b, x);
    switch ((vyre_result)vyre_expr_info_of(op)->result) {
    case VYRE_RESULT_OWN: return VYRE_VOID;
    case VYRE_RESULT_SAME: return first;
    case VYRE_RESULT_ARMS: return vyre_builder_expr_type(b, y);
    case VYRE_RESULT_UNSIGNED:
        return first == VYRE_I32 ? VYRE_U32 : first == VYRE_I64 ? VYRE_U64 : first;
    case VYRE_RESULT_BOOL: return VYRE_BOOL;
    case VYRE_RESULT_U32: return VYRE_U32;
    }
    return VYRE_VOID;
}

vyre_expr vyre_build_op(vyre_builder *b, vyre_expr_op op, vyre_expr x, vyre_expr y, vyre_expr z) {
    if (op < VYRE_EXPR_NEG || op >= VYRE_EXPR_COUNT) {
        vyre_builder_misuse(b, "not an operator; use the builder call of that expression");
        return VYRE_NONE;
    }
    return add_expr(b, (vyre_expr_node){.op = (uint8_t)op,
                                        .type = (uint8_t)result_type(b, op, x, y),
                                        .ref = VYRE_NONE,
                                        .u.arg = {x, y, z}});
}

/* Copies the tree below `root` from the pool to the end of the body's expressions, operands first.
 * In exact mode (sizes and clauses) every node is an exact integer, so literals lose their width.
 */
vyre_expr vyre_builder_commit(vyre_builder *b, vyre_body *to, vyre_expr root, bool exact) {
    struct frame {
        vyre_expr from;
        uint32_t next;
        vyre_expr arg[3];
    } stack[DEPTH + 1];
    if (!vyre_builder_ok(b)) {
        return VYRE_NONE;
    }
    if (root >= b->pool.count) {
        vyre_builder_misuse(b, "not an expression of this builder");
        return VYRE_NONE;
    }
    uint32_t depth = 0;
    vyre_expr done = VYRE_NONE;
    stack[0] = (struct frame){.from = root};
    for (;;) {
        struct frame *top = &stack[depth];
        const vyre_pool_node *source = &b->pool.data[top->from];
        uint32_t arity = vyre_expr_arity(&source->node);
        if (top->next > 0) {
            top->arg[top->next - 1] = done;
        }
        if (top->next < arity) {
            vyre_expr child = source->node.u.arg[top->next++];
            stack[++depth] = (struct frame){.from = child};
            continue;
        }
        vyre_expr_node node = source->node;
        if (node.op != VYRE_EXPR_LITERAL) {
            for (uint32_t i = 0; i < 3; i++) {
                node.u.arg[i] = i < arity ? top->arg[i] : VYRE_NONE;
            }
        }
        if (exact) {
            if (node.op == VYRE_EXPR_LITERAL && node.type == VYRE_I32) {
                node.u.bits = (uint64_t)(int64_t)(int32_t)node.u.bits;
            }
            if (vyre_type_is_integer((vyre_type)node.type)) {
                node.type = VYRE_I64;
            }
        }
        vyre_packed_place place = source->place;
        if (!vyre_vec_push(&b->allocator, &to->exprs, node) ||
            !vyre_vec_push(&b->allocator, &to->expr_places, place)) {
            vyre_builder_fail_memory(b);
            return VYRE_NONE;
        }
        done = to->exprs.count - 1;
        if (depth-- == 0) {
            return done;
        }
    }
}

vyre_expr vyre_builder_commit_optional(vyre_builder *b, vyre_body *to, vyre_expr root, bool exact) {
    return root == VYRE_NONE ? VYRE_NONE : vyre_builder_commit(b, to, root, exact);
}
