/* What a dispatch needs before its first step: values of consts, sizes of arrays, a slot for each
 * variable and loop, the pairs of async begin and wait, and the memory of the lanes that exist at
 * once. There is no recursion, so every variable of every function has one fixed slot per lane. */
#include <string.h>

#include "backend/ref/convert.h"
#include "backend/ref/machine.h"
#include "base/checked.h"
#include "base/intern.h"

/* Sizes are exact integers, whatever the types of their parts: 128 bits, and overflow is an error.
 */
__extension__ typedef __int128 exact;

static exact exact_leaf(const vyre_ref_machine *m, const vyre_expr_node *e) {
    if (e->op == VYRE_EXPR_LITERAL) {
        return (int64_t)e->u.bits;
    }
    if (e->op == VYRE_EXPR_LEN) {
        return m->arrays[e->ref].count;
    }
    vyre_type type = (vyre_type)m->program->decls[e->ref].type;
    uint64_t bits = vyre_ref_extend(type, m->scalars[e->ref]);
    return vyre_type_is_signed(type) ? (exact)(int64_t)bits : (exact)bits;
}

static bool exact_op(uint8_t op, exact a, exact b, exact *out) {
    switch ((int)op) {
    case VYRE_EXPR_NEG: return !__builtin_sub_overflow((exact)0, a, out);
    case VYRE_EXPR_ADD: return !__builtin_add_overflow(a, b, out);
    case VYRE_EXPR_SUB: return !__builtin_sub_overflow(a, b, out);
    case VYRE_EXPR_MUL: return !__builtin_mul_overflow(a, b, out);
    case VYRE_EXPR_DIV:
        if (b == -1) {
            return !__builtin_sub_overflow((exact)0, a, out);
        }
        *out = b == 0 ? 0 : a / b;
        return b != 0;
    case VYRE_EXPR_REM: *out = b == 0 || b == -1 ? 0 : a % b; return b != 0;
    case VYRE_EXPR_MIN: *out = a < b ? a : b; return true;
    case VYRE_EXPR_MAX: *out = a > b ? a : b; return true;
    case VYRE_EXPR_SHL: return b >= 0 && b < 127 && !__builtin_mul_overflow(a, (exact)1 << b, out);
    case VYRE_EXPR_SHR: *out = b < 0 ? 0 : a >> (b < 127 ? b : 127); return b >= 0;
    default: return false;
    }
}

/* values: room for the expressions of the declaration. */
static bool exact_count(const vyre_ref_machine *m, const vyre_decl_node *d, exact *values,
                        uint32_t *out) {
    bool fine = d->size != VYRE_NONE;
    for (uint32_t i = d->first_expr; fine && i < d->end_expr; i++) {
        const vyre_expr_node *e = &m->program->exprs[i];
        exact *value = &values[i - d->first_expr];
        uint32_t arity = vyre_expr_info_of((vyre_expr_op)e->op)->arity;
        if (arity == 0) {
            *value = exact_leaf(m, e);
        } else {
            exact a = values[e->u.arg[0] - d->first_expr];
            exact b = arity > 1 ? values[e->u.arg[1] - d->first_expr] : 0;
            fine = exact_op(e->op, a, b, value);
        }
    }
    exact count = fine ? values[d->size - d->first_expr] : -1;
    *out = (uint32_t)count;
    return count >= 0 && count <= UINT32_MAX;
}

/* The element count of a workgroup or private array. */
static vyre_status measure_array(vyre_ref_machine *m, vyre_decl decl) {
    const vyre_decl_node *d = &m->program->decls[decl];
    uint32_t length = d->end_expr - d->first_expr;
    exact *values = vyre_alloc(&m->allocator, length, sizeof *values);
    if (!values) {
        return vyre_fail_memory(m->diag, "the size of an array");
    }
    bool fine = exact_count(m, d, values, &m->arrays[decl].count);
    vyre_free(&m->allocator, values, length, sizeof *values);
    if (!fine) {
        return vyre_fail_at(m->diag, VYRE_INVALID_PROGRAM, "",
                            vyre_program_decl_place(m->args->program, decl),
                            "use a constant from 0 to 4294967295",
                            "the size of %s is not a valid number of elements", d->name);
    }
    m->arrays[decl].stride = (size_t)m->arrays[decl].count * m->arrays[decl].size;
    return VYRE_OK;
}

/* Consts may name consts declared later. Evaluating all of them until nothing changes is enough:
 * there are no cycles, so the only values that stay are the right ones. */
static void evaluate_consts(vyre_ref_machine *m) {
    const vyre_program_view *p = m->program;
    bool changed = true;
    for (uint32_t round = 0; changed && round <= p->decl_count; round++) {
        changed = false;
        for (uint32_t i = 0; i < p->decl_count; i++) {
            const vyre_decl_node *d = &p->decls[i];
            if (d->role == VYRE_CONST) {
                vyre_ref_eval(m, NULL, d->first_expr, d->end_expr);
                uint64_t value = m->stack[d->value - d->first_expr];
                changed |= value != m->scalars[i];
                m->scalars[i] = value;
            }
        }
    }
}

static vyre_status declare(vyre_ref_machine *m) {
    const vyre_program_view *p = m->program;
    for (uint32_t i = 0; i < p->decl_count; i++) {
        const vyre_decl_node *d = &p->decls[i];
        vyre_ref_array *array = &m->arrays[i];
        array->role = d->role;
        array->type = d->type;
        array->size = (uint8_t)vyre_type_size((vyre_type)d->type);
        if (vyre_role_is_buffer((vyre_role)d->role)) {
            if (!m->args->memory || (m->args->memory[i].count && !m->args->memory[i].data)) {
                return vyre_fail(m->diag, VYRE_INVALID_ARGUMENT, NULL, "no memory given for %s",
                                 d->name);
            }
            array->data = m->args->memory[i].data;
            array->count = m->args->memory[i].count;
            array->owners = 1;
        } else if (d->role == VYRE_PARAM) {
            if (!m->args->values) {
                return vyre_fail(m->diag, VYRE_INVALID_ARGUMENT, NULL, "no value given for %s",
                                 d->name);
            }
            m->scalars[i] = m->args->values[i];
        }
    }
    evaluate_consts(m);
    for (uint32_t i = 0; i < p->decl_count; i++) {
        if (p->decls[i].role == VYRE_WORKGROUP || p->decls[i].role == VYRE_PRIVATE) {
            vyre_status status = measure_array(m, i);
            if (status != VYRE_OK) {
                return status;
            }
        }
    }
    return VYRE_OK;
}

/* Numbers slots of loops and transfers; a wait gets the number of the begin with its tag. */
static vyre_status number_statements(vyre_ref_machine *m) {
    const vyre_program_view *p = m->program;
    vyre_intern tags;
    vyre_intern_init(&tags, &m->allocator);
    vyre_status status = VYRE_OK;
    m->slot_count = p->var_count;
    for (uint32_t i = 0; i < p->stmt_count && status == VYRE_OK; i++) {
        const vyre_stmt_node *s = &p->stmts[i];
        if (s->op == VYRE_STMT_FOR) {
            m->aux[i] = m->slot_count;
            m->slot_count += 2;
        } else if (s->op == VYRE_STMT_ASYNC_LOAD || s->op == VYRE_STMT_ASYNC_STORE ||
                   s->op == VYRE_STMT_ASYNC_WAIT) {
            m->aux[i] = vyre_intern_add(&tags, s->text, strlen(s->text));
            if (m->aux[i] == VYRE_INTERN_NONE) {
                status = vyre_fail_memory(m->diag, "the tags of async copies");
            }
        }
    }
    m->transfer_count = tags.count;
    vyre_intern_finish(&tags);
    return status;
}

static vyre_status measure_grid(vyre_ref_machine *m) {
    const uint32_t *size = m->program->workgroup, *grid = m->args->grid;
    m->group_lanes = size[0] * size[1] * size[2];
    m->group_subgroups = (uint32_t)vyre_ceil_div(m->group_lanes, VYRE_SUBGROUP_SIZE_FIXED);
    m->group_count = 1;
    bool fits = true;
    for (uint32_t axis = 0; axis < 3; axis++) {
        fits = fits && (uint64_t)size[axis] * grid[axis] <= UINT32_MAX &&
               vyre_mul_u64(m->group_count, grid[axis], &m->group_count);
    }
    uint64_t lanes;
    if (!fits || !vyre_mul_u64(m->group_count, m->group_lanes, &lanes)) {
        return vyre_fail(m->diag, VYRE_LIMIT, "use a smaller grid",
                         "a grid of %u x %u x %u groups is too large: ids are 32-bit numbers",
                         grid[0], grid[1], grid[2]);
    }
    bool whole = !vyre_program_has_no_grid_sync(m->args->program) ||
                 m->args->order == VYRE_REF_RANDOM || m->args->order == VYRE_REF_INTERLEAVED;
    uint64_t resident = whole ? m->group_count : m->group_count != 0;
    if (resident * m->group_lanes > UINT32_MAX) {
        return vyre_fail(m->diag, VYRE_OUT_OF_MEMORY, "use a smaller grid",
                         "the reference backend can't hold %llu lanes at once",
                         (unsigned long long)lanes);
    }
    m->resident = (uint32_t)resident;
    m->lane_count = m->resident * m->group_lanes;
    return VYRE_OK;
}

/* Bytes of state of all resident lanes and groups, for the message; saturates. */
static uint64_t state_bytes(const vyre_ref_machine *m) {
    uint64_t lane = sizeof *m->lanes + 2 * sizeof *m->active +
                    (uint64_t)m->slot_count * sizeof *m->slots +
                    (uint64_t)m->call_depth * sizeof *m->calls +
                    (uint64_t)m->transfer_count * sizeof *m->transfers;
    uint64_t group = sizeof *m->groups + m->group_subgroups * sizeof *m->subgroups;
    for (uint32_t i = 0; i < m->program->decl_count; i++) {
        *(m->arrays[i].role == VYRE_PRIVATE ? &lane : &group) += m->arrays[i].stride;
    }
    uint64_t lanes, groups, total;
    return vyre_mul_u64(lane, m->lane_count, &lanes) && vyre_mul_u64(group, m->resident, &groups) &&
                   vyre_add_u64(lanes, groups, &total)
               ? total
               : UINT64_MAX;
}

/* For reductions and scans, if there are any. */
static bool allocate_rows(vyre_ref_machine *m) {
    const uint64_t kinds = m->program->stats.stmt_kinds;
    if (!((kinds >> VYRE_STMT_GROUP | kinds >> VYRE_STMT_GRID) & 1)) {
        return true;
    }
    m->row_count = 2 * ((size_t)m->group_lanes + m->resident);
    m->row = vyre_alloc(&m->allocator, m->row_count, sizeof *m->row);
    if (m->row) {
        m->row_before = m->row + m->group_lanes;
        m->totals = m->row_before + m->group_lanes;
        m->totals_before = m->totals + m->resident;
    }
    return m->row != NULL;
}

static bool allocate_state(vyre_ref_machine *m) {
    const vyre_allocator *a = &m->allocator;
    size_t lanes = m->lane_count;
    size_t slots, calls, transfers;
    if (!vyre_mul_size(lanes, m->slot_count, &slots) ||
        !vyre_mul_size(lanes, m->call_depth, &calls) ||
        !vyre_mul_size(lanes, m->transfer_count, &transfers)) {
        return false;
    }
    if (!(m->lanes = vyre_alloc_zeroed(a, lanes, sizeof *m->lanes)) ||
        !(m->active = vyre_alloc(a, lanes, sizeof *m->active)) ||
        !(m->woken = vyre_alloc(a, lanes, sizeof *m->woken)) ||
        !(m->slots = vyre_alloc(a, slots, sizeof *m->slots)) ||
        !(m->calls = vyre_alloc(a, calls, sizeof *m->calls)) ||
        !(m->transfers = vyre_alloc_zeroed(a, transfers, sizeof *m->transfers)) ||
        !(m->groups = vyre_alloc(a, m->resident, sizeof *m->groups)) ||
        !(m->subgroups =
              vyre_alloc(a, (size_t)m->resident * m->group_subgroups, sizeof *m->subgroups))) {
        return false;
    }
    if (!allocate_rows(m)) {
        return false;
    }
    for (uint32_t i = 0; i < m->program->decl_count; i++) {
        vyre_ref_array *array = &m->arrays[i];
        if (array->role == VYRE_WORKGROUP || array->role == VYRE_PRIVATE) {
            array->owners = array->role == VYRE_PRIVATE ? m->lane_count : m->resident;
            array->data = vyre_alloc(a, array->owners, array->stride);
            if (!array->data) {
                return false;
            }
        }
    }
    return true;
}

static uint32_t longest_range(const vyre_program_view *p) {
    uint32_t longest = 0;
    for (uint32_t i = 0; i < p->stmt_count; i++) {
        uint32_t length = p->stmts[i].end_expr - p->stmts[i].first_expr;
        longest = length > longest ? length : longest;
    }
    for (uint32_t i = 0; i < p->decl_count; i++) {
        uint32_t length = p->decls[i].end_expr - p->decls[i].first_expr;
        longest = length > longest ? length : longest;
    }
    return longest;
}

vyre_status vyre_ref_machine_init(vyre_ref_machine *m) {
    const vyre_program_view *p = m->program;
    const vyre_allocator *a = &m->allocator;
    m->stack_count = longest_range(p);
    m->call_depth = p->fn_count < VYRE_LIMIT_CALL_DEPTH ? p->fn_count : VYRE_LIMIT_CALL_DEPTH;
    m->random = m->args->seed;
    if (!(m->arrays = vyre_alloc_zeroed(a, p->decl_count, sizeof *m->arrays)) ||
        !(m->scalars = vyre_alloc_zeroed(a, p->decl_count, sizeof *m->scalars)) ||
        !(m->stack = vyre_alloc_zeroed(a, m->stack_count, sizeof *m->stack)) ||
        !(m->asked = vyre_alloc_zeroed(a, p->expr_count, sizeof *m->asked)) ||
        !(m->aux = vyre_alloc_zeroed(a, p->stmt_count, sizeof *m->aux))) {
        return vyre_fail_memory(m->diag, "preparing the program");
    }
    vyre_ref_eval_prepare(m);
    vyre_status status = measure_grid(m);
    status = status == VYRE_OK ? declare(m) : status;
    status = status == VYRE_OK ? number_statements(m) : status;
    if (status != VYRE_OK) {
        return status;
    }
    if (!allocate_state(m)) {
        return vyre_fail(m->diag, VYRE_OUT_OF_MEMORY,
                         "use a smaller grid: a grid-stride loop needs fewer lanes",
                         "out of memory for the state of %u lanes: %llu bytes", m->lane_count,
                         (unsigned long long)state_bytes(m));
    }
    return vyre_ref_races_init(m);
}

void vyre_ref_machine_finish(vyre_ref_machine *m) {
    const vyre_program_view *p = m->program;
    const vyre_allocator *a = &m->allocator;
    size_t lanes = m->lane_count;
    for (uint32_t i = 0; m->transfers && i < m->lane_count; i++) {
        if (m->lanes[i].transfers) {
            vyre_ref_async_drop(m, &m->lanes[i]);
        }
    }
    vyre_ref_races_finish(m);
    for (uint32_t i = 0; m->arrays && i < p->decl_count; i++) {
        if (m->arrays[i].stride || !vyre_role_is_buffer((vyre_role)m->arrays[i].role)) {
            vyre_free(a, m->arrays[i].data, m->arrays[i].owners, m->arrays[i].stride);
        }
    }
    vyre_free(a, m->row, m->row_count, sizeof *m->row);
    vyre_free(a, m->subgroups, (size_t)m->resident * m->group_subgroups, sizeof *m->subgroups);
    vyre_free(a, m->groups, m->resident, sizeof *m->groups);
    vyre_free(a, m->transfers, lanes * m->transfer_count, sizeof *m->transfers);
    vyre_free(a, m->calls, lanes * m->call_depth, sizeof *m->calls);
    vyre_free(a, m->slots, lanes * m->slot_count, sizeof *m->slots);
    vyre_free(a, m->woken, lanes, sizeof *m->woken);
    vyre_free(a, m->active, lanes, sizeof *m->active);
    vyre_free(a, m->lanes, lanes, sizeof *m->lanes);
    vyre_free(a, m->aux, p->stmt_count, sizeof *m->aux);
    vyre_free(a, m->asked, p->expr_count, sizeof *m->asked);
    vyre_free(a, m->stack, m->stack_count, sizeof *m->stack);
    vyre_free(a, m->scalars, p->decl_count, sizeof *m->scalars);
    vyre_free(a, m->arrays, p->decl_count, sizeof *m->arrays);
}

static void start_group(vyre_ref_machine *m, uint32_t resident, uint64_t number) {
    const uint32_t *grid = m->args->grid;
    m->groups[resident] = (vyre_ref_group){
        .number = number,
        .id = {(uint32_t)(number % grid[0]), (uint32_t)(number / grid[0] % grid[1]),
               (uint32_t)(number / grid[0] / grid[1])},
        .living = m->group_lanes,
        .interval = ++m->group_intervals,
    };
    for (uint32_t i = 0; i < m->group_subgroups; i++) {
        uint32_t left = m->group_lanes - i * VYRE_SUBGROUP_SIZE_FIXED;
        m->subgroups[(size_t)resident * m->group_subgroups + i] = (vyre_ref_subgroup){
            .living = left < VYRE_SUBGROUP_SIZE_FIXED ? left : VYRE_SUBGROUP_SIZE_FIXED};
    }
    for (uint32_t local = 0; local < m->group_lanes; local++) {
        size_t i = (size_t)resident * m->group_lanes + local;
        m->lanes[i] = (vyre_ref_lane){
            .pc = m->program->entry,
            .end = m->program->stmt_count,
            .group = resident,
            .local = local,
            .slots = m->slots + i * m->slot_count,
            .calls = m->calls + i * m->call_depth,
            .transfers = m->transfers + i * m->transfer_count,
        };
    }
}

void vyre_ref_machine_start(vyre_ref_machine *m, uint64_t first_group) {
    for (uint32_t i = 0; i < m->resident; i++) {
        start_group(m, i, first_group + i);
    }
    memset(m->slots, 0, (size_t)m->lane_count * m->slot_count * sizeof *m->slots);
    for (uint32_t i = 0; i < m->program->decl_count; i++) {
        if (m->arrays[i].stride) {
            memset(m->arrays[i].data, 0, m->arrays[i].stride * m->arrays[i].owners);
        }
    }
    m->living = m->lane_count;
}
