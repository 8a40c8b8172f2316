/* Constant tables made from ops.def. */
#include "ir/touches.h"

const vyre_expr_info *vyre_expr_info_of(vyre_expr_op op) {
    static const vyre_expr_info rows[] = {
#define VYRE_EXPR(NAME, spelling, form, arity, operands, result, cost)                             \
    {#NAME, spelling, VYRE_FORM_##form, arity, VYRE_OPERANDS_##operands, VYRE_RESULT_##result,     \
     cost},
#include "vyre/ops.def"
    };
    return &rows[op];
}

const vyre_stmt_info *vyre_stmt_info_of(vyre_stmt_op op) {
    static const vyre_stmt_info rows[] = {
#define VYRE_STMT(NAME, spelling, scope, binds, args, effects, waits, decl, decl2)                 \
    {#NAME,                                                                                        \
     spelling,                                                                                     \
     VYRE_SCOPE_##scope,                                                                           \
     binds,                                                                                        \
     args,                                                                                         \
     VYRE_EFFECTS_##effects,                                                                       \
     VYRE_WAITS_##waits,                                                                           \
     VYRE_TOUCHES_##decl,                                                                          \
     VYRE_TOUCHES_##decl2},
#include "vyre/ops.def"
    };
    return &rows[op];
}

const char *vyre_builtin_name(vyre_builtin builtin) {
    static const char *const names[] = {
#define VYRE_BUILTIN(NAME, spelling, axes) spelling,
#include "vyre/ops.def"
    };
    return names[builtin];
}

uint32_t vyre_builtin_axes(vyre_builtin builtin) {
    static const uint8_t counts[] = {
#define VYRE_BUILTIN(NAME, spelling, axes) axes,
#include "vyre/ops.def"
    };
    return counts[builtin];
}

const char *vyre_atomic_name(vyre_atomic_op op) {
    static const char *const names[] = {
#define VYRE_ATOMIC(NAME, spelling, floats, values, joins) spelling,
#include "vyre/ops.def"
    };
    return names[op];
}

bool vyre_atomic_takes_floats(vyre_atomic_op op) {
    static const bool floats_allowed[] = {
#define VYRE_ATOMIC(NAME, spelling, floats, values, joins) floats,
#include "vyre/ops.def"
    };
    return floats_allowed[op];
}

uint32_t vyre_atomic_values(vyre_atomic_op op) {
    static const uint8_t counts[] = {
#define VYRE_ATOMIC(NAME, spelling, floats, values, joins) values,
#include "vyre/ops.def"
    };
    return counts[op];
}

vyre_expr_op vyre_atomic_joins(vyre_atomic_op op) {
    static const uint8_t operators[] = {
#define VYRE_ATOMIC(NAME, spelling, floats, values, joins) VYRE_EXPR_##joins,
#include "vyre/ops.def"
    };
    return (vyre_expr_op)operators[op];
}

const char *vyre_subgroup_name(vyre_subgroup_op op) {
    static const char *const names[] = {
#define VYRE_SUBGROUP(NAME, spelling, operands, asks) spelling,
#include "vyre/ops.def"
    };
    return names[op];
}

vyre_operands vyre_subgroup_operands(vyre_subgroup_op op) {
    static const uint8_t rows[] = {
#define VYRE_SUBGROUP(NAME, spelling, operands, asks) VYRE_OPERANDS_##operands,
#include "vyre/ops.def"
    };
    return (vyre_operands)rows[op];
}

bool vyre_subgroup_asks(vyre_subgroup_op op) {
    static const bool rows[] = {
#define VYRE_SUBGROUP(NAME, spelling, operands, asks) asks,
#include "vyre/ops.def"
    };
    return rows[op];
}

vyre_type vyre_subgroup_type(vyre_subgroup_op op, vyre_type value) {
    return op == VYRE_SUBGROUP_BALLOT                          ? VYRE_U32
           : vyre_subgroup_operands(op) == VYRE_OPERANDS_LOGIC ? VYRE_BOOL
                                                               : value;
}

const char *vyre_reduce_name(vyre_reduce_op op, bool grid) {
    static const char *const names[][2] = {
#define VYRE_REDUCE(NAME, group_spelling, grid_spelling, operands) {group_spelling, grid_spelling},
#include "vyre/ops.def"
    };
    return names[op][grid];
}

vyre_operands vyre_reduce_operands(vyre_reduce_op op) {
    static const uint8_t rows[] = {
#define VYRE_REDUCE(NAME, group_spelling, grid_spelling, operands) VYRE_OPERANDS_##operands,
#include "vyre/ops.def"
    };
    return (vyre_operands)rows[op];
}

vyre_type vyre_reduce_type(vyre_reduce_op op, vyre_type value) {
    return vyre_reduce_operands(op) == VYRE_OPERANDS_LOGIC ? VYRE_BOOL : value;
}

const char *vyre_collective_name(vyre_collective_op op) {
    static const char *const names[] = {
#define VYRE_COLLECTIVE(NAME, spelling, integers_only) spelling,
#include "vyre/ops.def"
    };
    return names[op];
}

const char *vyre_ordering_name(vyre_ordering ordering) {
    static const char *const names[] = {
        [VYRE_SEQ_CST] = "seq_cst", [VYRE_RELAXED] = "relaxed", [VYRE_ACQUIRE] = "acquire",
        [VYRE_RELEASE] = "release", [VYRE_ACQ_REL] = "acq_rel",
    };
    return names[ordering];
}

const char *vyre_role_name(vyre_role role) {
    static const char *const names[] = {
        [VYRE_IN] = "in",           [VYRE_INOUT] = "inout",         [VYRE_OUT] = "out",
        [VYRE_SCRATCH] = "scratch", [VYRE_WORKGROUP] = "workgroup", [VYRE_PRIVATE] = "private",
        [VYRE_PARAM] = "param",     [VYRE_CONST] = "const",
    };
    return names[role];
}

bool vyre_operands_accept(vyre_operands operands, uint32_t operand, vyre_type type) {
    const bool integer = type >= VYRE_U32 && type <= VYRE_I64;
    const bool real = type == VYRE_F32 || type == VYRE_F64;
    switch (operands) {
    case VYRE_OPERANDS_NONE: return false;
    case VYRE_OPERANDS_ANY: return vyre_type_computes(type);
    case VYRE_OPERANDS_NUMBER: return integer || real;
    case VYRE_OPERANDS_INTEGER:
    case VYRE_OPERANDS_SHIFT: return integer;
    case VYRE_OPERANDS_WORD: return type == VYRE_U32 || type == VYRE_I32;
    case VYRE_OPERANDS_FLOAT:
    case VYRE_OPERANDS_ELEMENTARY: return real;
    case VYRE_OPERANDS_LOGIC: return type == VYRE_BOOL || type == VYRE_U32;
    case VYRE_OPERANDS_SELECT:
        return operand == 0 ? type == VYRE_BOOL || type == VYRE_U32 : vyre_type_computes(type);
    case VYRE_OPERANDS_BITS: return integer || real;
    case VYRE_OPERANDS_U32:
    case VYRE_OPERANDS_INDEX: return type == VYRE_U32;
    }
    return false;
}
