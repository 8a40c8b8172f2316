/* A device states its limits in its description; programs beyond them are refused before anything
 * is allocated. (Operations that it lacks are replaced or refused by vyre_lower.) */
#include "dispatch/support.h"

#include "base/checked.h"
#include "base/diag.h"

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
        if (info->max_group[axis] && geometry->workgroup[axis] > info->max_group[axis]) {
            return vyre_fail(diag, VYRE_LIMIT, "use another shape of workgroups",
                             "a workgroup has %u lanes along %c, and at most %u on %s",
                             geometry->workgroup[axis], "xyz"[axis], info -> max_group[axis],
                             info -> backend);
        }
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
