/* Cells are numbered class by class, in each with the last part fastest. */
#include "random/cells.h"

#include <stdio.h>
#include <string.h>

static const uint32_t radix[CELL_CLASSES][CELL_PARTS] = {
    [CELL_EXPR] = {VYRE_EXPR_COUNT, VYRE_TYPE_COUNT},
    [CELL_STMT] = {VYRE_STMT_COUNT},
    [CELL_BUILTIN] = {VYRE_BUILTIN_COUNT, 3},
    [CELL_ATOMIC] = {VYRE_ATOMIC_COUNT, VYRE_TYPE_COUNT, 2},
    [CELL_ORDERING] = {2, VYRE_ORDERING_COUNT},
    [CELL_SUBGROUP] = {VYRE_SUBGROUP_COUNT, VYRE_TYPE_COUNT},
    [CELL_REDUCE] = {2, VYRE_REDUCE_COUNT, VYRE_TYPE_COUNT},
    [CELL_COLLECTIVE] = {2, VYRE_COLLECTIVE_COUNT},
    [CELL_MEMORY] = {VYRE_ROLE_COUNT, VYRE_TYPE_COUNT},
    [CELL_RANK] = {VYRE_ROLE_COUNT, 4},
    [CELL_TILE] = {CELL_OWNERS, CELL_FORMS, 3, 2, CELL_SHARES},
    [CELL_JUMP] = {CELL_JUMPS, CELL_LEVELS, CELL_SIDES, 2, CELL_SCOPES}};

uint32_t cell_parts(cell_class class) {
    uint32_t count = 0;
    while (count < CELL_PARTS && radix[class][count] != 0) {
        count++;
    }
    return count;
}

static uint32_t cells_in(cell_class class) {
    uint32_t product = 1;
    for (uint32_t i = 0; i < cell_parts(class); i++) {
        product *= radix[class][i];
    }
    return product;
}

uint32_t cell_number(cell c) {
    uint32_t before = 0, number = 0;
    for (uint32_t class = 0; class < (uint32_t)c.class; class ++) {
        before += cells_in((cell_class) class);
    }
    for (uint32_t i = 0; i < cell_parts(c.class); i++) {
        number = number * radix[c.class][i] + c.part[i];
    }
    return before + number;
}

cell cell_of(uint32_t number) {
    cell c = {.class = CELL_EXPR};
    while (number >= cells_in(c.class)) {
        number -= cells_in(c.class);
        c.class = (cell_class)(c.class + 1);
    }
    for (uint32_t i = cell_parts(c.class); i-- > 0;) {
        c.part[i] = number % radix[c.class][i];
        number /= radix[c.class][i];
    }
    return c;
}

/* What can't be */

static const char *refuse_expr(vyre_expr_op op, vyre_type type) {
    const vyre_operands operands = (vyre_operands)vyre_expr_info_of(op)->operands;
    bool fits;
    switch ((uint32_t)op) {
    case VYRE_EXPR_LITERAL:
    case VYRE_EXPR_VAR:
    case VYRE_EXPR_REF: fits = vyre_type_computes(type); break;
    case VYRE_EXPR_LEN:
    case VYRE_EXPR_BUILTIN: fits = type == VYRE_U32; break;
    case VYRE_EXPR_LOAD:
    case VYRE_EXPR_CAST: fits = type != VYRE_VOID; break;
    case VYRE_EXPR_BITCAST: fits = vyre_type_computes(type) && type != VYRE_BOOL; break;
    default: fits = vyre_operands_accept(operands, operands == VYRE_OPERANDS_SELECT ? 1 : 0, type);
    }
    return fits ? NULL : "not on this type";
}

static const char *refuse_atomic(vyre_atomic_op op, vyre_type type) {
    const bool fits =
        vyre_type_computes(type) &&
        (vyre_type_is_integer(type) || (vyre_type_is_float(type) && vyre_atomic_takes_floats(op)));
    return fits ? NULL : "not on this type";
}

static const char *refuse_jump(const uint32_t *part) {
    const bool breaks = part[0] == CELL_BREAK, continues = part[0] == CELL_CONTINUE;
    const bool together = part[1] <= (part[4] == CELL_GRID_SYNC ? CELL_GRID : CELL_GROUP);
    if ((breaks || continues) && !part[3]) {
        return "only in a loop";
    }
    if (breaks && !together) {
        return "a loop that lanes leave apart holds no barrier";
    }
    return continues && !together && part[2] == CELL_BEFORE
               ? "the rest of a trip that lanes leave apart holds no barrier"
               : NULL;
}

static const char *refuse_reduce(const uint32_t *part) {
    const vyre_reduce_op op = (vyre_reduce_op)part[1];
    if (vyre_reduce_name(op, part[0] != 0)[0] == '\0') {
        return "only over a group";
    }
    return vyre_operands_accept(vyre_reduce_operands(op), 0, (vyre_type)part[2])
               ? NULL
               : "not on this type";
}

const char *cell_refusal(cell c) {
    const uint32_t *part = c.part;
    switch (c.class) {
    case CELL_EXPR: return refuse_expr((vyre_expr_op)part[0], (vyre_type)part[1]);
    case CELL_BUILTIN:
        return part[1] < vyre_builtin_axes((vyre_builtin)part[0]) ? NULL : "it has no such axis";
    case CELL_ATOMIC: return refuse_atomic((vyre_atomic_op)part[0], (vyre_type)part[1]);
    case CELL_ORDERING:
        return part[0] == 1 && part[1] == VYRE_RELAXED ? "a barrier is never relaxed" : NULL;
    case CELL_SUBGROUP:
        return vyre_operands_accept(vyre_subgroup_operands((vyre_subgroup_op)part[0]), 0,
                                    (vyre_type)part[1])
                   ? NULL
                   : "not on this type";
    case CELL_MEMORY:
        return part[1] == VYRE_VOID ||
                       (part[0] >= VYRE_PARAM && !vyre_type_computes((vyre_type)part[1]))
                   ? "not of this type"
                   : NULL;
    case CELL_RANK:
        return (part[0] >= VYRE_PARAM) != (part[1] == 0) ? "not of these dimensions" : NULL;
    case CELL_JUMP: return refuse_jump(part);
    case CELL_REDUCE: return refuse_reduce(part);
    case CELL_STMT:
        return part[0] == VYRE_STMT_PART || part[0] == VYRE_STMT_COMBINE ||
                       part[0] == VYRE_STMT_BASE
                   ? "only splitting makes it"
                   : NULL;
    case CELL_COLLECTIVE:
    case CELL_TILE:
    case CELL_CLASSES: break;
    }
    return NULL;
}

/* Names */

static const char *const jumps[] = {"break", "continue", "exit", "return", "trap"};
static const char *const levels[] = {"constant", "grid", "group", "row", "subgroup", "varying"};
static const char *const sides[] = {"before", "behind"};
static const char *const owners[] = {"workgroup memory", "private memory"};
static const char *const forms[] = {"at once", "in a loop", "in two loops", "in both arms"};

static const char *stmt_name(vyre_stmt_op op) {
    const vyre_stmt_info *info = vyre_stmt_info_of(op);
    return info->spelling[0] != '\0' ? info->spelling : info->name;
}

static const char *expr_name(vyre_expr_op op) {
    const vyre_expr_info *info = vyre_expr_info_of(op);
    return info->spelling[0] != '\0' ? info->spelling : info->name;
}

static const char *reduce_name(const uint32_t *part) {
    const char *name = vyre_reduce_name((vyre_reduce_op)part[1], part[0] != 0);
    return name[0] != '\0' ? name : "grid operation";
}

void cell_row_name(cell c, char *out, size_t size) {
    const uint32_t *part = c.part;
    switch (c.class) {
    case CELL_EXPR: (void)snprintf(out, size, "%s on", expr_name((vyre_expr_op)part[0])); break;
    case CELL_STMT: (void)snprintf(out, size, "statement"); break;
    case CELL_BUILTIN:
        (void)snprintf(out, size, "%s", vyre_builtin_name((vyre_builtin)part[0]));
        break;
    case CELL_ATOMIC:
        (void)snprintf(out, size, "%s on %s in", vyre_atomic_name((vyre_atomic_op)part[0]),
                       vyre_type_name((vyre_type)part[1]));
        break;
    case CELL_ORDERING: (void)snprintf(out, size, part[0] ? "barrier" : "atomic"); break;
    case CELL_SUBGROUP:
        (void)snprintf(out, size, "%s on", vyre_subgroup_name((vyre_subgroup_op)part[0]));
        break;
    case CELL_REDUCE: (void)snprintf(out, size, "%s on", reduce_name(part)); break;
    case CELL_COLLECTIVE:
        (void)snprintf(out, size, part[0] ? "reduce_scatter" : "all_reduce");
        break;
    case CELL_MEMORY: (void)snprintf(out, size, "%s of", vyre_role_name((vyre_role)part[0])); break;
    case CELL_RANK:
        (void)snprintf(out, size, "dimensions of %s", vyre_role_name((vyre_role)part[0]));
        break;
    case CELL_TILE:
        (void)snprintf(out, size, "%s of rank %u set %s%s,", owners[part[0]], part[2] + 1,
                       forms[part[1]], part[3] ? " of an if" : "");
        break;
    case CELL_JUMP:
        (void)snprintf(out, size, "%s, %s, %s a loop, %s", jumps[part[0]], levels[part[1]],
                       part[3] ? "in" : "out of", sides[part[2]]);
        break;
    case CELL_CLASSES: break;
    }
}

const char *cell_last_name(cell c) {
    static const char *const axes[] = {"x", "y", "z"}, *const ranks[] = {"0", "1", "2", "3"};
    const uint32_t last = c.part[cell_parts(c.class) - 1];
    switch (c.class) {
    case CELL_STMT: return stmt_name((vyre_stmt_op)last);
    case CELL_BUILTIN: return axes[last];
    case CELL_ATOMIC: return last == CELL_BUFFER ? "a buffer" : "workgroup memory";
    case CELL_ORDERING: return vyre_ordering_name((vyre_ordering)last);
    case CELL_COLLECTIVE: return vyre_collective_name((vyre_collective_op)last);
    case CELL_RANK: return ranks[last];
    case CELL_TILE: return last == CELL_WHOLE ? "as a whole" : "in part";
    case CELL_JUMP: return last == CELL_GRID_SYNC ? "grid_sync" : "barrier";
    case CELL_EXPR:
    case CELL_SUBGROUP:
    case CELL_REDUCE:
    case CELL_MEMORY:
    case CELL_CLASSES: break;
    }
    return vyre_type_name((vyre_type)last);
}
