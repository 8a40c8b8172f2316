/* The best of several devices, by what they state about themselves and by how long they took to
 * open. Every backend is opened once; all but the chosen device are closed again. Only the first
 * device of a backend is considered. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "device/device.h"
#include "device/registry.h"

/* Points for what a device can do: more is better. */
static uint32_t capability(const vyre_device_info *info) {
    const struct {
        bool has;
        uint32_t points;
    } facts[] = {
        {info->max_buffer_bytes != 0, 16},
        {info->max_group_lanes >= 64, 8},
        {info->max_group_lanes >= 256, 4},
        {info->native_subgroup != 0, 8},
        {info->has_subgroups, 12},
        {info->max_workgroup_bytes != 0, 4},
        {info->has_f16, 2},
        {info->has_bf16, 2},
        {info->has_tensor_cores, 4},
        {info->has_indirect_launch, 2},
        {info->reports_device_time, 2},
        {info->has_hardware_counters, 2},
    };
    uint32_t points = 0;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        points += facts[i].has ? facts[i].points : 0;
    }
    return points;
}

/* How well a device tells time: not at all, launches apart from waits, device time, counters. */
static uint32_t timing(const vyre_device *device) {
    return device->info.has_hardware_counters ? 3
           : device->info.reports_device_time ? 2
           : device->table->finish            ? 1
                                              : 0;
}

static bool is_better(const vyre_device *a, const vyre_device *b) {
    /* Pairs of which the first difference decides; the larger is better. */
    const uint64_t facts[][2] = {
        {!a->info.is_oracle, !b->info.is_oracle},
        {capability(&a->info), capability(&b->info)},
        {timing(a), timing(b)},
        {a->info.memory_bandwidth, b->info.memory_bandwidth},
        {UINT32_MAX - a->backend->rank, UINT32_MAX - b->backend->rank},
        {UINT64_MAX - a->open_ns, UINT64_MAX - b->open_ns},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        if (facts[i][0] != facts[i][1]) {
            return facts[i][0] > facts[i][1];
        }
    }
    return strcmp(a->backend->name, b->backend->name) < 0;
}

vyre_status vyre_device_open_best(const vyre_registry *registry, const vyre_opening *how,
                                  vyre_device **out_device, vyre_diag *diag) {
    vyre_device *best = NULL;
    char absent[VYRE_DIAG_TEXT] = ""; /* which were not there, and why */
    for (uint32_t i = 0; i < vyre_backend_count(registry); i++) {
        const vyre_backend *backend = vyre_registry_at(registry, i);
        vyre_device *device = NULL;
        vyre_diag why = {0};
        if (backend->by_name_only) {
            continue;
        }
        vyre_status status = vyre_device_open_backend(backend, "", how, &device, &why);
        if (status == VYRE_OUT_OF_MEMORY) {
            vyre_device_close(best);
            return vyre_fail_memory(diag, "a device");
        }
        if (status == VYRE_OK && !device->info.is_dummy && (!best || is_better(device, best))) {
            vyre_device *worse = best;
            best = device;
            device = worse;
        }
        vyre_device_close(device);
        size_t used = strlen(absent);
        if (status != VYRE_OK) {
            snprintf(absent + used, sizeof absent - used, "%s%s: %.100s", used ? "; " : " (",
                     backend->name, why.message);
        }
    }
    if (!best) {
        return vyre_fail(diag, VYRE_NOT_FOUND, "register a backend, or open one by name",
                         "no device is present%s%s", absent, absent[0] ? ")" : "");
    }
    *out_device = best;
    return VYRE_OK;
}
