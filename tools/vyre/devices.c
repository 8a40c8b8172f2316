/* vyre devices: which backends are there and what they can do. */
#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "device/registry.h"

typedef struct devices_options {
    bool json;
} devices_options;

static const cli_option options[] = {
    {"json", CLI_FLAG, 0, false, offsetof(devices_options, json), NULL, "print one JSON object"},
};

static const char *level_name(vyre_level level) {
    static const char *const names[] = {"segment", "schedule", "program"};
    return names[level];
}

static void put_name(void *json, const char *name) {
    vyre_json_put_string(json, name);
}

static void put_metric(void *json, const char *name, uint64_t value) {
    vyre_json_key(json, name);
    vyre_json_put_u64(json, value);
}

static void write_json(vyre_json_writer *json, vyre_device *device, bool is_best) {
    const vyre_device_info *info = vyre_device_describe(device);
    const struct {
        const char *key;
        bool value;
    } abilities[] = {{"f64", info->has_f64},
                     {"u64_atomics", info->has_u64_atomics},
                     {"float_atomics", info->has_float_atomics},
                     {"subgroups", info->has_subgroups},
                     {"async_copy", info->has_async_copy},
                     {"f16", info->has_f16},
                     {"bf16", info->has_bf16},
                     {"tensor_cores", info->has_tensor_cores},
                     {"indirect_launch", info->has_indirect_launch},
                     {"async_compute", info->has_async_compute},
                     {"speculation", info->has_speculation},
                     {"persistent_threads", info->has_persistent_threads},
                     {"distributed", info->is_distributed},
                     {"wraps_memory", info->wraps_memory},
                     {"device_time", info->reports_device_time},
                     {"hardware_counters", info->has_hardware_counters},
                     {"split", info->allows_split},
                     {"oracle", info->is_oracle},
                     {"dummy", info->is_dummy},
                     {"auto", is_best}};
    const struct {
        const char *key;
        uint64_t value;
    } limits[] = {{"native_subgroup", info->native_subgroup},
                  {"max_group_lanes", info->max_group_lanes},
                  {"max_group_x", info->max_group[0]},
                  {"max_group_y", info->max_group[1]},
                  {"max_group_z", info->max_group[2]},
                  {"max_workgroup_bytes", info->max_workgroup_bytes},
                  {"max_buffer_bytes", info->max_buffer_bytes},
                  {"memory_bytes", info->memory_bytes},
                  {"memory_bandwidth", info->memory_bandwidth},
                  {"compute_units", info->compute_units},
                  {"vector_bytes", info->vector_bytes},
                  {"cache_l1_bytes", info->cache_bytes[0]},
                  {"cache_l2_bytes", info->cache_bytes[1]},
                  {"cache_l3_bytes", info->cache_bytes[2]}};
    vyre_json_key(json, "name");
    vyre_json_put_string(json, info->name);
    vyre_json_key(json, "version");
    vyre_json_put_string(json, info->version);
    vyre_json_key(json, "level");
    vyre_json_put_string(json, level_name(info->level));
    for (uint32_t i = 0; i < CLI_COUNT(abilities); i++) {
        vyre_json_key(json, abilities[i].key);
        vyre_json_put_bool(json, abilities[i].value);
    }
    for (uint32_t i = 0; i < CLI_COUNT(limits); i++) {
        vyre_json_key(json, limits[i].key);
        vyre_json_put_u64(json, limits[i].value);
    }
    vyre_json_key(json, "code_folder");
    if (info->code_folder) {
        vyre_json_put_string(json, info->code_folder);
    } else {
        vyre_json_put_null(json);
    }
    vyre_json_key(json, "operations");
    vyre_json_begin_array(json);
    vyre_capabilities_tell(vyre_device_capabilities(device), put_name, json);
    vyre_json_end_array(json);
    vyre_json_key(json, "metrics");
    vyre_json_begin_object(json);
    vyre_device_metrics(device, put_metric, json);
    vyre_json_end_object(json);
}

static void write_size(vyre_text *text, uint64_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
    uint32_t unit = 0;
    while (unit + 1 < CLI_COUNT(units) && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    vyre_text_printf(text, "%" PRIu64 " %s", bytes, units[unit]);
}

/* What people who tune programs want to know of a processor; nothing where nothing is known. */
static void write_details(vyre_text *text, const vyre_device_info *info) {
    const char *separator = "             ";
    if (info->compute_units) {
        vyre_text_printf(text, "%s%u thread%s", separator, info->compute_units,
                         info->compute_units == 1 ? "" : "s");
        separator = ", ";
    }
    if (info->vector_bytes) {
        vyre_text_printf(text, "%svectors of %u bytes", separator, info->vector_bytes);
        separator = ", ";
    }
    for (uint32_t level = 0; level < 3; level++) {
        if (info->cache_bytes[level]) {
            vyre_text_printf(text, "%sL%u ", separator, level + 1);
            write_size(text, info->cache_bytes[level]);
            separator = ", ";
        }
    }
    if (info->code_folder) {
        vyre_text_printf(text, "%scompiled programs in %s", separator, info->code_folder);
        separator = ", ";
    }
    vyre_text_puts(text, separator[0] == ',' ? "\n" : "");
}

static void write_line(vyre_text *text, const char *backend, const vyre_device_info *info,
                       bool is_best) {
    static const char *const barriers[] = {"split at grid barriers", "schedule on the device",
                                           "native grid barrier"};
    vyre_text_printf(text, "%-12s %s%s%s, %s%s%s%s\n", backend, info->name,
                     info->version[0] ? " " : "", info->version, barriers[info->level],
                     info->is_oracle ? ", exact and slow" : "",
                     info->is_dummy ? ", computes nothing" : "", is_best ? " (auto)" : "");
    if (!info->is_oracle && !info->is_dummy) {
        write_details(text, info);
    }
}

/* What "auto" opens; all zero if there is nothing. */
static vyre_device_info find_best(const vyre_device_options *how) {
    vyre_device_info info = {0};
    vyre_device *device = NULL;
    if (vyre_device_open_with(NULL, "auto", how, NULL, &device, NULL) == VYRE_OK) {
        info = *vyre_device_describe(device);
        vyre_device_close(device);
    }
    return info;
}

/* One device, or why it is not there. */
static void list(vyre_json_writer *json, vyre_text *text, const char *uri,
                 const vyre_device_options *how, const vyre_device_info *best) {
    vyre_device *device = NULL;
    vyre_diag diag = {0};
    const vyre_status status = vyre_device_open_with(NULL, uri, how, NULL, &device, &diag);
    const bool is_best = strcmp(uri, best->backend) == 0;
    if (json) {
        vyre_json_begin_object(json);
        vyre_json_key(json, "backend");
        vyre_json_put_string(json, uri);
        vyre_json_key(json, "present");
        vyre_json_put_bool(json, status == VYRE_OK);
        if (status == VYRE_OK) {
            write_json(json, device, is_best);
        } else {
            vyre_json_key(json, "message");
            vyre_json_put_string(json, diag.message);
            vyre_json_key(json, "fix");
            vyre_json_put_string(json, diag.fix);
        }
        vyre_json_end_object(json);
    } else if (status == VYRE_OK) {
        write_line(text, uri, vyre_device_describe(device), is_best);
    } else {
        vyre_text_printf(text, "%-12s not there: %s\n%-12s %s\n", uri, diag.message, "", diag.fix);
    }
    vyre_device_close(device);
}

static cli_exit run(cli_context *cli, const void *given, const cli_list *arguments) {
    const devices_options *o = given;
    (void)arguments;
    cli_device how;
    cli_device_options(cli, &how);
    const vyre_device_info best = find_best(&how.options);
    vyre_text text;
    vyre_json_writer json;
    vyre_text_init(&text, NULL);
    vyre_json_writer_init(&json, &text);
    if (o->json) {
        vyre_json_begin_object(&json);
        vyre_json_key(&json, "schema");
        vyre_json_put_u64(&json, 1);
        vyre_json_key(&json, "devices");
        vyre_json_begin_array(&json);
    }
    for (uint32_t i = 0; i < vyre_backend_count(NULL); i++) {
        const vyre_backend *backend = vyre_registry_at(NULL, i);
        const uint32_t count = backend->count ? backend->count(backend) : 1;
        list(o->json ? &json : NULL, &text, backend->name, &how.options, &best);
        for (uint32_t number = 1; number < count; number++) {
            char uri[64];
            snprintf(uri, sizeof uri, "%s://%u", backend->name, number);
            list(o->json ? &json : NULL, &text, uri, &how.options, &best);
        }
    }
    if (o->json) {
        vyre_json_end_array(&json);
        vyre_json_end_object(&json);
        vyre_text_puts(&text, "\n");
    }
    return cli_output(cli, &text);
}

const cli_command cli_devices_command = {
    .name = "devices",
    .arguments = "",
    .summary = "list the backends and what they can do",
    .details =
        "In order of rank. --backend auto opens each of them once, but for those that are opened "
        "by "
        "name only (opencl), and takes the best by what it can do; it is marked. A backend with "
        "several devices has them as NAME://1 and so on.",
    .options = options,
    .option_count = CLI_COUNT(options),
    .options_size = sizeof(devices_options),
    .run = run,
};
