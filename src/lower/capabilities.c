/* Capabilities by name. Words are looked up in the table of operations itself, so that a new row
 * has a name here at once. */
#include "lower/capabilities.h"

#include <string.h>

#include "base/diag.h"

#define BITS(count) (UINT64_MAX >> (64 - (count)))

_Static_assert(VYRE_EXPR_COUNT > 64 && VYRE_EXPR_COUNT <= 128, "expressions need two words");
_Static_assert(VYRE_STMT_COUNT <= 64 && VYRE_TYPE_COUNT <= 32, "sets of bits");

vyre_capabilities vyre_capabilities_all(void) {
    vyre_capabilities all = {
        .exprs = {UINT64_MAX, BITS(VYRE_EXPR_COUNT - 64)},
        .stmts = BITS(VYRE_STMT_COUNT),
        .types = (uint32_t)BITS(VYRE_TYPE_COUNT),
        .subgroups = (uint32_t)BITS(VYRE_SUBGROUP_COUNT),
        .builtins = (uint32_t)BITS(VYRE_BUILTIN_COUNT),
        .lanes_may_end = true,
        .zeroes_workgroup = true,
        .checks_bounds = true,
    };
    for (uint32_t type = VYRE_U32; type <= VYRE_F64; type++) {
        all.buffer_atomics[type] = all.workgroup_atomics[type] = (uint32_t)BITS(VYRE_ATOMIC_COUNT);
    }
    return all;
}

/* Removing */

static void drop_expr(vyre_capabilities *can, uint32_t op) {
    can->exprs[op / 64] &= ~(UINT64_C(1) << op % 64);
}

static void drop_stmt(vyre_capabilities *can, vyre_stmt_op op) {
    can->stmts &= ~(UINT64_C(1) << op);
}

static void drop_atomics(vyre_capabilities *can, vyre_type type, uint32_t ops) {
    can->buffer_atomics[type] &= ~ops;
    can->workgroup_atomics[type] &= ~ops;
}

static void drop_elementary(vyre_capabilities *can) {
    for (uint32_t op = 0; op < VYRE_EXPR_COUNT; op++) {
        if (vyre_expr_info_of((vyre_expr_op)op)->operands == VYRE_OPERANDS_ELEMENTARY) {
            drop_expr(can, op);
        }
    }
}

static void drop_async(vyre_capabilities *can) {
    drop_stmt(can, VYRE_STMT_ASYNC_LOAD);
    drop_stmt(can, VYRE_STMT_ASYNC_STORE);
    drop_stmt(can, VYRE_STMT_ASYNC_WAIT);
}

static void drop_calls(vyre_capabilities *can) {
    drop_stmt(can, VYRE_STMT_CALL);
    drop_stmt(can, VYRE_STMT_RETURN);
}

static void drop_subgroups(vyre_capabilities *can) {
    can->subgroups = 0;
    can->builtins &= ~(1u << VYRE_BUILTIN_SUBGROUP_LOCAL_ID | 1u << VYRE_BUILTIN_SUBGROUP_SIZE);
    drop_stmt(can, VYRE_STMT_SUBGROUP);
}

static void drop_groups(vyre_capabilities *can) {
    drop_stmt(can, VYRE_STMT_GROUP);
    drop_stmt(can, VYRE_STMT_GRID);
}

static void drop_float_atomics(vyre_capabilities *can) {
    drop_atomics(can, VYRE_F32, UINT32_MAX);
    drop_atomics(can, VYRE_F64, UINT32_MAX);
}

static void drop_u64_atomics(vyre_capabilities *can) {
    drop_atomics(can, VYRE_U64, UINT32_MAX);
    drop_atomics(can, VYRE_I64, UINT32_MAX);
}

static void drop_traps(vyre_capabilities *can) {
    drop_stmt(can, VYRE_STMT_TRAP);
}

static void drop_ended_lanes(vyre_capabilities *can) {
    can->lanes_may_end = false;
}

static void drop_zeroed_workgroup(vyre_capabilities *can) {
    can->zeroes_workgroup = false;
}

static void drop_bounds(vyre_capabilities *can) {
    can->checks_bounds = false;
}

/* Whole devices */

static void drop_for_cpu(vyre_capabilities *can) {
    drop_calls(can);
    drop_async(can);
    drop_elementary(can);
    drop_expr(can, VYRE_EXPR_ROW);
    drop_subgroups(can);
    drop_groups(can);
}

static void drop_for_opencl(vyre_capabilities *can) {
    drop_for_cpu(can);
    drop_traps(can);
    drop_ended_lanes(can);
    drop_zeroed_workgroup(can);
    drop_bounds(can);
}

static void drop_to_core(vyre_capabilities *can) {
    drop_for_opencl(can);
    drop_float_atomics(can);
}

static void drop_nothing(vyre_capabilities *can) {
    (void)can;
}

static const struct group {
    const char *name;
    void (*drop)(vyre_capabilities *can);
    bool is_device;
} groups[] = {
    {"all", drop_nothing, true},
    {"minimal", drop_to_core, true},
    {"cpu", drop_for_cpu, true},
    {"opencl", drop_for_opencl, true},
    {"elementary", drop_elementary, false},
    {"async", drop_async, false},
    {"calls", drop_calls, false},
    {"subgroups", drop_subgroups, false},
    {"groups", drop_groups, false},
    {"float_atomics", drop_float_atomics, false},
    {"u64_atomics", drop_u64_atomics, false},
    {"traps", drop_traps, false},
    {"ended_lanes", drop_ended_lanes, false},
    {"zeroed_workgroup", drop_zeroed_workgroup, false},
    {"bounds", drop_bounds, false},
};

/* One operation, type or id by its spelling. */
static bool drop_row(vyre_capabilities *can, const char *word) {
    bool found = false;
    for (uint32_t op = 0; op < VYRE_EXPR_COUNT; op++) {
        if (strcmp(vyre_expr_info_of((vyre_expr_op)op)->spelling, word) == 0) {
            drop_expr(can, op);
            found = true;
        }
    }
    for (uint32_t op = 0; op < VYRE_STMT_COUNT; op++) {
        if (strcmp(vyre_stmt_info_of((vyre_stmt_op)op)->spelling, word) == 0) {
            drop_stmt(can, (vyre_stmt_op)op);
            found = true;
        }
    }
    for (uint32_t op = 0; op < VYRE_ATOMIC_COUNT; op++) {
        for (uint32_t t = 0;
             strcmp(vyre_atomic_name((vyre_atomic_op)op), word) == 0 && t < VYRE_TYPE_COUNT; t++) {
            drop_atomics(can, (vyre_type)t, 1u << op);
            found = true;
        }
    }
    for (uint32_t op = 0; op < VYRE_SUBGROUP_COUNT; op++) {
        if (strcmp(vyre_subgroup_name((vyre_subgroup_op)op), word) == 0) {
            can->subgroups &= ~(1u << op);
            found = true;
        }
    }
    for (uint32_t id = 0; id < VYRE_BUILTIN_COUNT; id++) {
        if (strcmp(vyre_builtin_name((vyre_builtin)id), word) == 0) {
            can->builtins &= ~(1u << id);
            found = true;
        }
    }
    vyre_type type = vyre_type_from_name(word, strlen(word));
    can->types &= ~(type == VYRE_VOID ? 0 : 1u << type);
    return found || type != VYRE_VOID;
}

static bool drop_word(vyre_capabilities *can, const char *word, bool is_first) {
    for (uint32_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (strcmp(groups[i].name, word) == 0 && (is_first || !groups[i].is_device)) {
            groups[i].drop(can);
            return true;
        }
    }
    return *word && drop_row(can, word);
}

vyre_status vyre_capabilities_named(const char *text, vyre_capabilities *out_capabilities,
                                    vyre_diag *diag) {
    vyre_capabilities can = vyre_capabilities_all();
    char word[64];
    const char *at = text;
    do {
        size_t length = strcspn(at, ",");
        size_t kept = length < sizeof word ? length : sizeof word - 1;
        memcpy(word, at, kept);
        word[kept] = '\0';
        if (length != kept || !drop_word(&can, word, at == text)) {
            return vyre_fail(diag, VYRE_NOT_FOUND,
                             "begin with all, minimal, cpu or opencl; then say what is missing, "
                             "such as sin,async,subgroups,u64_atomics,ended_lanes",
                             "no device and no operation is called \"%s\"", word);
        }
        at += length + (at[length] == ',');
    } while (*at);
    *out_capabilities = can;
    return VYRE_OK;
}

/* Telling */

/* Rows of the table without a spelling have a form of their own, and their name is it. */
static const char *word_of(const char *spelling, const char *name) {
    return *spelling ? spelling : name;
}

void vyre_capabilities_tell(const vyre_capabilities *can, vyre_name_fn tell, void *user) {
    for (uint32_t op = 0; op < VYRE_EXPR_COUNT; op++) {
        const vyre_expr_info *info = vyre_expr_info_of((vyre_expr_op)op);
        if (vyre_can_expr(can, (uint8_t)op)) {
            tell(user, word_of(info->spelling, info->name));
        }
    }
    for (uint32_t op = 0; op < VYRE_STMT_COUNT; op++) {
        const vyre_stmt_info *info = vyre_stmt_info_of((vyre_stmt_op)op);
        if (vyre_can_stmt(can, (uint8_t)op)) {
            tell(user, word_of(info->spelling, info->name));
        }
    }
    for (uint32_t op = 0; op < VYRE_ATOMIC_COUNT; op++) {
        if (vyre_can_atomic(can, (uint8_t)op, VYRE_U32, VYRE_INOUT)) {
            tell(user, vyre_atomic_name((vyre_atomic_op)op));
        }
    }
    for (uint32_t op = 0; op < VYRE_SUBGROUP_COUNT; op++) {
        if (vyre_can_subgroup(can, (uint8_t)op)) {
            tell(user, vyre_subgroup_name((vyre_subgroup_op)op));
        }
    }
    for (uint32_t id = 0; id < VYRE_BUILTIN_COUNT; id++) {
        if (vyre_can_builtin(can, (uint8_t)id)) {
            tell(user, vyre_builtin_name((vyre_builtin)id));
        }
    }
    for (uint32_t type = 0; type < VYRE_TYPE_COUNT; type++) {
        if (type != VYRE_VOID && vyre_can_type(can, (uint8_t)type)) {
            tell(user, vyre_type_name((vyre_type)type));
        }
    }
}

/* Asking */

static vyre_status lacks(vyre_diag *diag, vyre_place place, const char *what) {
    return vyre_fail_at(diag, VYRE_UNSUPPORTED, "", place,
                        "run it on another device; \"ref\" can do everything",
                        "the device does not have %s", what);
}

/* What a statement needs that is not claimed; NULL: nothing. */
static const char *lacking_in_stmt(const vyre_capabilities *can, const vyre_program_view *p,
                                   const vyre_stmt_node *s) {
    if (!vyre_can_stmt(can, s->op)) {
        return vyre_stmt_info_of((vyre_stmt_op)s->op)->name;
    }
    if (s->op == VYRE_STMT_ATOMIC &&
        !vyre_can_atomic(can, s->sub, p->decls[s->decl].type, p->decls[s->decl].role)) {
        vyre_type type = (vyre_type)p->decls[s->decl].type;
        return vyre_type_is_float(type)    ? "atomics on floats"
               : vyre_type_size(type) == 8 ? "64-bit atomics"
                                           : vyre_atomic_name((vyre_atomic_op)s->sub);
    }
    if (s->op == VYRE_STMT_SUBGROUP && !vyre_can_subgroup(can, s->sub)) {
        return vyre_subgroup_name((vyre_subgroup_op)s->sub);
    }
    return NULL;
}

static const char *lacking_in_expr(const vyre_capabilities *can, const vyre_expr_node *e) {
    if (!vyre_can_expr(can, e->op)) {
        return vyre_expr_info_of((vyre_expr_op)e->op)->name;
    }
    if (e->op == VYRE_EXPR_BUILTIN && !vyre_can_builtin(can, e->sub)) {
        return vyre_builtin_name((vyre_builtin)e->sub);
    }
    if (e->op == VYRE_EXPR_CAST && !vyre_can_type(can, e->sub)) {
        return vyre_type_name((vyre_type)e->sub);
    }
    return vyre_can_type(can, e->type) ? NULL : vyre_type_name((vyre_type)e->type);
}

vyre_status vyre_can_program(const vyre_capabilities *can, const vyre_program *program,
                             vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        if (!vyre_can_type(can, p->decls[d].type)) {
            return lacks(diag, vyre_program_decl_place(program, d),
                         vyre_type_name((vyre_type)p->decls[d].type));
        }
    }
    for (vyre_stmt s = 0; s < p->stmt_count; s++) {
        const char *what = lacking_in_stmt(can, p, &p->stmts[s]);
        if (what) {
            return lacks(diag, vyre_program_stmt_place(program, s), what);
        }
        for (vyre_expr e = p->stmts[s].first_expr; e < p->stmts[s].end_expr; e++) {
            what = lacking_in_expr(can, &p->exprs[e]);
            if (what) {
                return lacks(diag, vyre_program_expr_place(program, e), what);
            }
        }
    }
    return VYRE_OK;
}
