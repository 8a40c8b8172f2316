/* "ref" as a device that claims the core only. It does not trust what it is given: a program that
 * holds anything else, or that is not valid, is an internal error. */
#include "diff/minimal.h"

#include "base/diag.h"
#include "device/builtin.h"
#include "lower/capabilities.h"
#include "vyre/check.h"

static vyre_capabilities core;

static const vyre_device_table *ref(void) {
    return vyre_backend_ref.device;
}

static void describe(vyre_backend_device *device, vyre_device_info *out_info) {
    ref()->describe(device, out_info);
    out_info->level = VYRE_LEVEL_SEGMENT;
    out_info->can = &core;
}

static vyre_status compile(vyre_backend_device *device, const vyre_program *program,
                           vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    vyre_diag item = {0};
    vyre_diag_list list = {.items = &item, .capacity = 1};
    vyre_status status = vyre_can_program(&core, program, &item);
    if (status == VYRE_OK) {
        status = vyre_check(program, NULL, &list);
    }
    if (status != VYRE_OK) {
        return vyre_fail(diag, VYRE_INTERNAL, "", "lowered program %s: line %u: %s",
                         vyre_program_get(program)->name, item.line, item.message);
    }
    return ref()->compile(device, program, out_kernel, diag);
}

vyre_status minimal_add(vyre_registry *registry, vyre_diag *diag) {
    static vyre_device_table table;
    static vyre_backend backend;
    vyre_status status = vyre_capabilities_named("minimal", &core, diag);
    table = *ref();
    table.compile = compile;
    table.describe = describe;
    backend = vyre_backend_ref;
    backend.name = "ref-minimal";
    backend.device = &table;
    return status == VYRE_OK ? vyre_registry_add(registry, &backend, diag) : status;
}
