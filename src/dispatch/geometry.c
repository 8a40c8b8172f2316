/* Geometry by the first source that there is: the program's indirect dispatch (alone), the caller's
 * grid, the caller's elements, the program's clause, the largest returned buffer. It is computed
 * from the source program before anything is split or run, so every piece and pass has the same
 * one.
 *
 * Global ids and sizes are u32: along each axis groups * lanes must fit. The lanes of the whole
 * grid must fit 64 bits, since lanes are numbered. */
#include "dispatch/geometry.h"

#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "ir/size.h"

typedef unsigned long long ull;

static const char give_a_grid[] = "give a grid: workgroups along x, y and z";

typedef struct resolver {
    const vyre_program *program;
    const vyre_program_view *view;
    const vyre_binding *binding;
    const vyre_geometry_words *words;
    const vyre_dispatch_options *options;
    vyre_geometry *out;
    vyre_diag *diag;
} resolver;

/* Workgroup */

/* Where the program depends on the shape of its workgroups, in words; NULL if it does not. */
static const char *dependence(const vyre_program_view *view) {
    if (view->stats.uses_subgroups) {
        return "subgroups";
    }
    if (view->stats.stmt_kinds & UINT64_C(1) << VYRE_STMT_BARRIER) {
        return "workgroup barriers";
    }
    if (view->stats.stmt_kinds & (UINT64_C(1) << VYRE_STMT_GROUP | UINT64_C(1) << VYRE_STMT_GRID)) {
        return "reductions or scans over groups";
    }
    for (vyre_decl i = 0; i < view->decl_count; i++) {
        if (view->decls[i].role == VYRE_WORKGROUP) {
            return "workgroup memory";
        }
    }
    for (vyre_expr i = 0; i < view->expr_count; i++) {
        if (view->exprs[i].op == VYRE_EXPR_BUILTIN) {
            vyre_builtin id = (vyre_builtin)view->exprs[i].sub;
            if (id != VYRE_BUILTIN_GLOBAL_ID && id != VYRE_BUILTIN_GLOBAL_SIZE) {
                return vyre_builtin_name(id);
            }
        }
    }
    return NULL;
}

vyre_status vyre_geometry_workgroup(const vyre_program *program, const uint32_t given[3],
                                    uint32_t out_workgroup[3], vyre_diag *diag) {
    const vyre_program_view *view = vyre_program_get(program);
    uint32_t workgroup[3];
    memcpy(workgroup, view->workgroup, sizeof workgroup);
    uint64_t lanes = 1;
    for (int axis = 0; axis < 3 && (given[0] || given[1] || given[2]); axis++) {
        workgroup[axis] = given[axis] ? given[axis] : 1;
        if (!vyre_mul_u64(lanes, workgroup[axis], &lanes) || lanes > VYRE_LIMIT_GROUP_LANES) {
            return vyre_fail(diag, VYRE_LIMIT, "use fewer lanes per workgroup",
                             "a workgroup has at most %d lanes", VYRE_LIMIT_GROUP_LANES);
        }
    }
    const char *why = dependence(view);
    if (why && memcmp(workgroup, view->workgroup, sizeof workgroup) != 0) {
        return vyre_fail_at(diag, VYRE_INVALID_ARGUMENT, "", vyre_program_place(program),
                            "run it with its own workgroup, or change the program",
                            "the workgroup can't be overridden: program %s uses %s", view->name,
                            why);
    }
    memcpy(out_workgroup, workgroup, sizeof workgroup);
    return VYRE_OK;
}

/* Grid */

/* The one axis along which workgroups have more than one lane, x if none; 3 if there are several.
 */
static int active_axis(const uint32_t workgroup[3]) {
    int active = 0, count = 0;
    for (int axis = 2; axis >= 0; axis--) {
        if (workgroup[axis] > 1) {
            active = axis;
            count++;
        }
    }
    return count > 1 ? 3 : active;
}

static vyre_status grid_of_elements(const resolver *r, uint64_t elements, const char *source) {
    const uint32_t *workgroup = r->out->workgroup;
    int axis = active_axis(workgroup);
    if (axis == 3) {
        return vyre_fail_at(r->diag, VYRE_INVALID_INPUT, "", vyre_program_place(r->program),
                            give_a_grid,
                            "workgroups of %u x %u x %u lanes extend along more than one axis: %s "
                            "does not say how many there are along each",
                            workgroup[0], workgroup[1], workgroup[2], source);
    }
    uint64_t groups = vyre_ceil_div(elements, workgroup[axis]);
    if (groups > UINT32_MAX) {
        return vyre_fail(r->diag, VYRE_LIMIT, "use fewer elements per dispatch",
                         "%llu elements in workgroups of %u lanes are more than 4294967295 groups",
                         (ull)elements, workgroup[axis]);
    }
    r->out->grid[0] = r->out->grid[1] = r->out->grid[2] = 1;
    r->out->grid[axis] = (uint32_t)groups;
    return VYRE_OK;
}

static bool know_len(void *user, vyre_decl decl, uint64_t *out_count) {
    const resolver *r = user;
    *out_count = r->binding->counts[decl];
    return true;
}

static bool know_param(void *user, vyre_decl decl, uint64_t *out_bits) {
    const resolver *r = user;
    *out_bits = r->binding->values[decl];
    return true;
}

static vyre_status clause_value(resolver *r, uint32_t index, uint64_t *out_value) {
    const vyre_size_env env = {.len = know_len, .param = know_param, .user = r};
    vyre_expr root = r->view->clause[index];
    if (root == VYRE_NONE) {
        *out_value = 1;
        return VYRE_OK;
    }
    if (vyre_size_evaluate(r->view, root, &env, out_value, NULL) != VYRE_SIZE_OK) {
        return vyre_fail_at(
            r->diag, VYRE_INVALID_INPUT, "", vyre_program_expr_place(r->program, root),
            "check the lengths and params that the clause is computed from",
            "the %s clause of program %s divides by zero, is negative or too large",
            r->view->clause_kind == VYRE_CLAUSE_GRID ? "grid" : "elements", r->view->name);
    }
    return VYRE_OK;
}

static vyre_status grid_of_clause(resolver *r) {
    uint64_t value;
    if (r->view->clause_kind == VYRE_CLAUSE_ELEMENTS) {
        vyre_status status = clause_value(r, 0, &value);
        return status != VYRE_OK ? status : grid_of_elements(r, value, "the elements clause");
    }
    for (uint32_t axis = 0; axis < 3; axis++) {
        vyre_status status = clause_value(r, axis, &value);
        if (status != VYRE_OK) {
            return status;
        }
        if (value > UINT32_MAX) {
            return vyre_fail_at(
                r->diag, VYRE_LIMIT, "", vyre_program_expr_place(r->program, r->view->clause[axis]),
                "use a smaller grid", "%llu groups along %c are too many", (ull)value, "xyz"[axis]);
        }
        r->out->grid[axis] = (uint32_t)value;
    }
    return VYRE_OK;
}

static vyre_status grid_of_outputs(const resolver *r) {
    const vyre_binding *binding = r->binding;
    for (uint32_t i = 0; i < binding->output_count; i++) {
        vyre_decl decl = binding->outputs[i];
        if (r->out->from == VYRE_NONE || binding->counts[decl] > binding->counts[r->out->from]) {
            r->out->from = decl;
        }
    }
    if (r->out->from == VYRE_NONE) {
        return vyre_fail_at(
            r->diag, VYRE_INVALID_INPUT, "", vyre_program_place(r->program), give_a_grid,
            "program %s returns no buffer from which a grid could be inferred", r->view->name);
    }
    return grid_of_elements(r, binding->counts[r->out->from], "the length of a buffer");
}

/* Indirect dispatch: three words at a constant byte offset. What the caller does not fill is zero.
 */
static vyre_status grid_of_words(resolver *r, vyre_stmt stmt) {
    const vyre_size_env env = {0};
    const vyre_stmt_node *s = &r->view->stmts[stmt];
    vyre_place place = vyre_program_stmt_place(r->program, stmt);
    const char *name = r->view->decls[s->decl].name;
    uint64_t offset, end, bytes = vyre_binding_bytes(r->binding, s->decl);
    if (vyre_size_evaluate(r->view, s->arg[0], &env, &offset, NULL) != VYRE_SIZE_OK) {
        return vyre_fail_at(r->diag, VYRE_INVALID_PROGRAM, "", place, "give a constant offset",
                            "the offset of indirect_dispatch is not a constant");
    }
    if (offset % 4 != 0 || !vyre_add_u64(offset, 12, &end) || end > bytes) {
        return vyre_fail_at(
            r->diag, VYRE_INVALID_INPUT, "", place,
            "three words must lie inside the buffer, at a multiple of 4 bytes",
            "indirect_dispatch reads 12 bytes at offset %llu of \"%s\", which has %llu",
            (ull)offset, name, (ull)bytes);
    }
    memset(r->out->grid, 0, sizeof r->out->grid);
    for (uint32_t i = 0; i < r->binding->input_count; i++) {
        if (r->binding->inputs[i] != s->decl) {
            continue;
        }
        if (!r->words->inputs) {
            return r->words->read(r->words->user, s->decl, offset, r->out->grid,
                                  sizeof r->out->grid, r->diag);
        }
        if (r->words->inputs[i].data) {
            memcpy(r->out->grid, (const char *)r->words->inputs[i].data + offset,
                   sizeof r->out->grid);
        }
    }
    return VYRE_OK;
}

static vyre_stmt find_indirect(const vyre_program_view *view) {
    if (view->stats.stmt_kinds & UINT64_C(1) << VYRE_STMT_INDIRECT_DISPATCH) {
        for (vyre_stmt i = view->entry; i < view->stmt_count; i++) {
            if (view->stmts[i].op == VYRE_STMT_INDIRECT_DISPATCH) {
                return i;
            }
        }
    }
    return VYRE_NONE;
}

bool vyre_geometry_is_indirect(const vyre_program *program) {
    return find_indirect(vyre_program_get(program)) != VYRE_NONE;
}

static vyre_status resolve_grid(resolver *r) {
    const vyre_dispatch_options *options = r->options;
    vyre_stmt indirect = find_indirect(r->view);
    if (indirect != VYRE_NONE) {
        const char *other = options->has_grid                              ? "the caller's grid"
                            : options->has_elements                        ? "the caller's elements"
                            : r->view->clause_kind == VYRE_CLAUSE_GRID     ? "the grid clause"
                            : r->view->clause_kind == VYRE_CLAUSE_ELEMENTS ? "the elements clause"
                                                                           : NULL;
        if (other) {
            return vyre_fail_at(r->diag, VYRE_INVALID_ARGUMENT, "",
                                vyre_program_stmt_place(r->program, indirect), "use one of the two",
                                "indirect_dispatch and %s both give the grid", other);
        }
        return grid_of_words(r, indirect);
    }
    if (options->has_grid) {
        memcpy(r->out->grid, options->grid, sizeof r->out->grid);
        return VYRE_OK;
    }
    if (options->has_elements) {
        return grid_of_elements(r, options->elements, "a number of elements");
    }
    return r->view->clause_kind != VYRE_CLAUSE_NONE ? grid_of_clause(r) : grid_of_outputs(r);
}

static vyre_status check_range(const resolver *r) {
    uint64_t lanes = 1;
    for (int axis = 0; axis < 3; axis++) {
        uint64_t along = (uint64_t)r->out->grid[axis] * r->out->workgroup[axis];
        if (along > UINT32_MAX) {
            return vyre_fail(r->diag, VYRE_LIMIT, "use fewer lanes and a loop over the elements",
                             "%u groups of %u lanes along %c: global ids would not fit u32",
                             r->out->grid[axis], r->out->workgroup[axis], "xyz"[axis]);
        }
        if (!vyre_mul_u64(lanes, along, &lanes)) {
            return vyre_fail(r->diag, VYRE_LIMIT, "use fewer lanes and a loop over the elements",
                             "the grid has more than 2^64 lanes");
        }
    }
    return VYRE_OK;
}

vyre_status vyre_geometry_resolve(const vyre_binding *binding, const vyre_geometry_words *words,
                                  const vyre_dispatch_options *options, vyre_geometry *out_geometry,
                                  vyre_diag *diag) {
    vyre_geometry geometry = {.from = VYRE_NONE};
    resolver r = {.program = binding->program,
                  .view = vyre_program_get(binding->program),
                  .binding = binding,
                  .words = words,
                  .options = options,
                  .out = &geometry,
                  .diag = diag};
    vyre_status status =
        vyre_geometry_workgroup(binding->program, options->workgroup, geometry.workgroup, diag);
    if (status == VYRE_OK) {
        status = resolve_grid(&r);
    }
    if (status == VYRE_OK && !vyre_geometry_is_empty(&geometry)) {
        status = check_range(&r);
    }
    if (status == VYRE_OK) {
        *out_geometry = geometry;
    }
    return status;
}

vyre_status vyre_bind_sizes(const vyre_program *program, const vyre_input *inputs,
                            uint32_t input_count, const vyre_dispatch_options *options,
                            uint32_t *out_counts, uint32_t out_grid[3], vyre_decl *out_grid_from,
                            vyre_diag *diag) {
    static const vyre_dispatch_options defaults;
    if (!program || (!inputs && input_count)) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give a program and its inputs",
                         "program or inputs is NULL");
    }
    options = options ? options : &defaults;
    vyre_allocator a = vyre_allocator_system();
    vyre_bind_args args = {.inputs = inputs,
                           .input_count = input_count,
                           .settings = options->settings,
                           .setting_count = options->setting_count,
                           .only_sizes = true};
    vyre_binding binding;
    vyre_geometry geometry;
    vyre_status status = vyre_binding_init(&binding, program, &args, &a, diag);
    if (status != VYRE_OK) {
        return status;
    }
    status = vyre_geometry_resolve(&binding, &(vyre_geometry_words){.inputs = inputs}, options,
                                   &geometry, diag);
    if (status == VYRE_OK) {
        if (out_counts) {
            memcpy(out_counts, binding.counts,
                   vyre_program_get(program)->decl_count * sizeof *out_counts);
        }
        if (out_grid) {
            memcpy(out_grid, geometry.grid, sizeof geometry.grid);
        }
        if (out_grid_from) {
            *out_grid_from = geometry.from;
        }
    }
    vyre_binding_finish(&binding);
    return status;
}
