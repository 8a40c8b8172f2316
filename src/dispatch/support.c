/* A device states what it can't do in its description; programs that need it are refused before
 * anything is compiled, with the place of the first such operation. */
#include "dispatch/support.h"

#include "base/checked.h"
#include "base/diag.h"

static const char another_device[] = "run it on another device; \"ref\" can do everything";

static vyre_status lacks(const vyre_device_info *info, const char *what, vyre_place place,
                         vyre_diag *diag) {
    return vyre_fail_at(diag, VYRE_UNSUPPORTED, "", place, another_device, "%s does not have %s",
                        info->backend, what);
}

/* What a statement needs that this device lacks; NULL: nothing. */
static const char *lacking_in_stmt(const vyre_device_info *info, const vyre_program_view *view,
                                   const vyre_stmt_node *s) {
    if (info->unsupported_stmts >> s->op & 1) {
        return vyre_stmt_info_of((vyre_stmt_op)s->op)->name;
    }
    if (s->op == VYRE_STMT_ATOMIC) {
        vyre_type type = (vyre_type)view->decls[s->decl].type;
        if (vyre_type_is_float(type)) {
            return info->has_float_atomics ? NULL : "atomics on floats";
        }
        return vyre_type_size(type) == 8 && !info->has_u64_atomics ? "64-bit atomics" : NULL;
    }
    if (s->op == VYRE_STMT_SUBGROUP) {
        return info->has_subgroups ? NULL : "subgroups";
    }
    if (s->op == VYRE_STMT_ASYNC_LOAD || s->op == VYRE_STMT_ASYNC_STORE) {
        return info->has_async_copy ? NULL : "async copies";
    }
    return NULL;
}

vyre_status vyre_support_program(const vyre_device_info *info, const vyre_program *program,
                                 vyre_diag *diag) {
    const vyre_program_view *view = vyre_program_get(program);
    if (!info->has_f64 && view->stats.types >> VYRE_F64 & 1) {
        return lacks(info, "f64", vyre_program_place(program), diag);
    }
    for (vyre_stmt i = 0; i < view->stmt_count; i++) {
        const char *what = lacking_in_stmt(info, view, &view->stmts[i]);
        if (what) {
            return lacks(info, what, vyre_program_stmt_place(program, i), diag);
        }
    }
    if (!info->unsupported_exprs[0] && !info->unsupported_exprs[1]) {
        return VYRE_OK;
    }
    for (vyre_expr i = 0; i < view->expr_count; i++) {
        uint8_t op = view->exprs[i].op;
        if (info->unsupported_exprs[op / 64] >> op % 64 & 1) {
            return lacks(info, vyre_expr_info_of((vyre_expr_op)op)->name,
                         vyre_program_expr_place(program, i), diag);
        }
    }
    return VYRE_OK;
}

vyre_status vyre_support_geometry(const vyre_device_info *info, const vyre_binding *binding,
                                  const vyre_geometry *geometry, vyre_diag *diag) {
    const vyre_program_view *view = vyre_program_get(binding->program);
    uint64_t lanes =
        (uint64_t)geometry->workgroup[0] * geometry->workgroup[1] * geometry->workgroup[2];
    if (info->max_group_lanes && lanes > info->max_group_lanes) {
        return vyre_fail(diag, VYRE_LIMIT, "use smaller workgroups",
                         "a workgroup has %llu lanes, and at most %u on %s",
                         (unsigned long long)lanes, info->max_group_lanes, info->backend);
    }
    for (int axis = 0; axis < 3; axis++) {
        if (info->max_groups[axis] && geometry->grid[axis] > info->max_groups[axis]) {
            return vyre_fail(diag, VYRE_LIMIT, "use fewer groups and a loop over the elements",
                             "the grid has %u groups along %c, and at most %u on %s",
                             geometry->grid[axis], "xyz"[axis], info -> max_groups[axis],
                             info -> backend);
        }
    }
    uint64_t bytes = 0, most = info->max_buffer_bytes;
    for (vyre_decl i = 0; i < view->decl_count; i++) {
        if (most && vyre_role_is_buffer((vyre_role)view->decls[i].role) &&
            vyre_binding_bytes(binding, i) > most) {
            return vyre_fail_at(diag, VYRE_LIMIT, "", vyre_program_decl_place(binding->program, i),
                                "use a smaller problem or another device",
                                "%s needs %llu bytes, and a buffer of %s has at most %llu",
                                view->decls[i].name,
                                (unsigned long long)vyre_binding_bytes(binding, i), info->backend,
                                (unsigned long long)most);
        }
        if (view->decls[i].role == VYRE_WORKGROUP &&
            !vyre_add_u64(bytes, vyre_binding_bytes(binding, i), &bytes)) {
            bytes = UINT64_MAX;
        }
    }
    if (info->max_workgroup_bytes && bytes > info->max_workgroup_bytes) {
        return vyre_fail(diag, VYRE_LIMIT, "use less workgroup memory",
                         "a workgroup needs %llu bytes of memory, and has at most %llu on %s",
                         (unsigned long long)bytes, (unsigned long long)info->max_workgroup_bytes,
                         info->backend);
    }
    return VYRE_OK;
}
