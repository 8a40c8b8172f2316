/* Devices by URI: opening, losing and reopening them. */
#include "device/device.h"

#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/nearest.h"
#include "device/bytes.h"
#include "device/call.h"
#include "device/queue.h"
#include "device/registry.h"

/* What programs for the device may hold. */
static vyre_capabilities capabilities_of(const vyre_device_info *info) {
    vyre_capabilities can = info->can ? *info->can : vyre_capabilities_all();
    const uint64_t copies = UINT64_C(1) << VYRE_STMT_ASYNC_LOAD |
                            UINT64_C(1) << VYRE_STMT_ASYNC_STORE |
                            UINT64_C(1) << VYRE_STMT_ASYNC_WAIT;
    can.stmts &= info->has_async_copy ? UINT64_MAX : ~copies;
    can.stmts &= info->has_subgroups ? UINT64_MAX : ~(UINT64_C(1) << VYRE_STMT_SUBGROUP);
    can.subgroups &= info->has_subgroups ? UINT32_MAX : 0;
    can.types &= info->has_f64 ? UINT32_MAX : ~(1u << VYRE_F64);
    for (uint32_t type = 0; type < VYRE_TYPE_COUNT; type++) {
        bool has = vyre_type_is_float((vyre_type)type)    ? info->has_float_atomics
                   : vyre_type_size((vyre_type)type) == 8 ? info->has_u64_atomics
                                                          : true;
        can.buffer_atomics[type] &= has ? UINT32_MAX : 0;
        can.workgroup_atomics[type] &= has ? UINT32_MAX : 0;
    }
    return can;
}

static vyre_status open_plainly(const vyre_device *device, vyre_backend_device **out_object,
                                vyre_diag *diag) {
    const vyre_backend *backend = device->backend;
    if (backend->open_with) {
        return backend->open_with(backend, device->path, &device->options, &device->allocator,
                                  out_object, diag);
    }
    if (device->options.threads > 1) {
        return vyre_fail(diag, VYRE_UNSUPPORTED, "ask for one thread, or for none in particular",
                         "%s runs on one thread", backend->name);
    }
    return backend->open(backend, device->path, &device->allocator, out_object, diag);
}

/* Opens what the device says it is. On failure its object is not there. */
static vyre_status open_object(vyre_device *device, vyre_diag *diag) {
    const vyre_backend *backend = device->backend;
    const vyre_fault *fault = device->has_fault ? &device->fault : NULL;
    device->opens++;
    vyre_status status = fault ? vyre_fault_opening(fault, device->opens, diag) : VYRE_OK;
    if (status != VYRE_OK) {
        return status;
    }
    uint64_t begin = vyre_clock_now();
    const vyre_device_table *table = backend->device;
    vyre_backend_device *object = NULL;
    status = open_plainly(device, &object, diag);
    if (status == VYRE_OK && table->launch_bytes) {
        status = vyre_bytes_wrap(&device->allocator, &table, &object, diag);
        if (status != VYRE_OK) {
            table->close(object);
        }
    }
    if (status == VYRE_OK && fault) {
        status = vyre_fault_wrap(fault, &device->allocator, &table, &object, diag);
        if (status != VYRE_OK) {
            table->close(object);
        }
    }
    if (status == VYRE_OK) {
        device->open_ns = vyre_clock_now() - begin;
        device->table = table;
        device->object = object;
        table->describe(object, &device->info);
        device->info.wraps_memory = device->info.wraps_memory && table->adopt;
        device->can = capabilities_of(&device->info);
        vyre_diag_copy(device->info.backend, sizeof device->info.backend, backend->name);
    }
    return status;
}

static void free_device(vyre_device *device) {
    vyre_allocator a = device->allocator;
    vyre_process_finish(&device->process);
    vyre_free(&a, device->path, device->path_size, 1);
    vyre_free(&a, (void *)(uintptr_t)device->options.code_folder, device->folder_size, 1);
    vyre_free(&a, device, 1, sizeof *device);
}

/* False: no memory. */
static bool copy_text(const vyre_allocator *a, const char *text, char **out_copy,
                      size_t *out_size) {
    *out_size = strlen(text) + 1;
    *out_copy = vyre_alloc(a, *out_size, 1);
    if (*out_copy) {
        memcpy(*out_copy, text, *out_size);
    }
    return *out_copy != NULL;
}

/* What is needed to open it anew. */
static bool keep_names(vyre_device *device, const char *path, const char *folder) {
    const vyre_allocator *a = &device->allocator;
    char *copy = NULL;
    bool kept = copy_text(a, path, &device->path, &device->path_size) &&
                (!folder || copy_text(a, folder, &copy, &device->folder_size));
    device->options.code_folder = copy;
    return kept;
}

vyre_status vyre_device_open_backend(const vyre_backend *backend, const char *path,
                                     const vyre_opening *how, vyre_device **out_device,
                                     vyre_diag *diag) {
    vyre_device *device = vyre_alloc_zeroed(&how->allocator, 1, sizeof *device);
    if (!device) {
        return vyre_fail_memory(diag, "a device");
    }
    device->allocator = how->allocator;
    device->backend = backend;
    device->process = vyre_process_here();
    device->options = how->options;
    device->has_fault = how->fault != NULL;
    device->fault = how->fault ? *how->fault : (vyre_fault){0};
    vyre_status status = keep_names(device, path, how->options.code_folder)
                             ? open_object(device, diag)
                             : vyre_fail_memory(diag, "a device");
    if (status == VYRE_OK && pthread_mutex_init(&device->lock, NULL) != 0) {
        device->table->close(device->object);
        status = vyre_fail_memory(diag, "a device");
    }
    if (status != VYRE_OK) {
        free_device(device);
        return status;
    }
    *out_device = device;
    return VYRE_OK;
}

static vyre_status unknown_backend(const vyre_registry *registry, const char *uri, size_t length,
                                   vyre_diag *diag) {
    char name[64] = "", fix[VYRE_DIAG_FIX] = "the backends are:";
    memcpy(name, uri, length < sizeof name ? length : sizeof name - 1);
    vyre_nearest nearest = vyre_nearest_to(name);
    for (uint32_t i = 0; i < vyre_backend_count(registry); i++) {
        const char *candidate = vyre_backend_name(registry, i);
        size_t used = strlen(fix);
        vyre_nearest_offer(&nearest, candidate);
        if (used + strlen(candidate) + 2 < sizeof fix) {
            fix[used] = ' ';
            memcpy(fix + used + 1, candidate, strlen(candidate) + 1);
        }
    }
    return vyre_fail(diag, VYRE_NOT_FOUND, fix, "there is no backend \"%s\"%s%s%s", name,
                     nearest.best ? "; did you mean \"" : "", nearest.best ? nearest.best : "",
                     nearest.best ? "\"?" : "");
}

/* Of "NAME" or "NAME://PATH". */
static size_t name_length(const char *uri) {
    const char *colon = strstr(uri, "://");
    return colon ? (size_t)(colon - uri) : strlen(uri);
}

/* NULL: there is none of that name. */
static const vyre_backend *find_backend(const vyre_registry *registry, const char *uri,
                                        const char **out_path) {
    const size_t length = name_length(uri);
    *out_path = uri[length] ? uri + length + 3 : "";
    return vyre_registry_find(registry, uri, length);
}

static vyre_status open_plain(const vyre_registry *registry, const char *uri,
                              const vyre_opening *how, vyre_device **out_device, vyre_diag *diag) {
    if (!*uri || strcmp(uri, "auto") == 0) {
        return vyre_device_open_best(registry, how, out_device, diag);
    }
    const char *path;
    const vyre_backend *backend = find_backend(registry, uri, &path);
    if (!backend) {
        return unknown_backend(registry, uri, name_length(uri), diag);
    }
    return vyre_device_open_backend(backend, path, how, out_device, diag);
}

/* uri is what follows "fault://": INNER?op=... */
static vyre_status open_faulty(const vyre_registry *registry, const char *uri,
                               const vyre_opening *how, vyre_device **out_device, vyre_diag *diag) {
    char inner[256];
    const char *query = strrchr(uri, '?');
    size_t length = query ? (size_t)(query - uri) : strlen(uri);
    vyre_fault fault;
    if (length >= sizeof inner || strncmp(uri, "fault://", 8) == 0) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "write fault://ref?op=launch&n=3",
                         "a fault decorates a plain device");
    }
    memcpy(inner, uri, length);
    inner[length] = '\0';
    vyre_status status = vyre_fault_parse(query ? query + 1 : "", &fault, diag);
    vyre_opening faulty = *how;
    faulty.fault = &fault;
    return status != VYRE_OK ? status : open_plain(registry, inner, &faulty, out_device, diag);
}

vyre_status vyre_device_open_with(const vyre_registry *registry, const char *uri,
                                  const vyre_device_options *options,
                                  const vyre_allocator *allocator, vyre_device **out_device,
                                  vyre_diag *diag) {
    const vyre_opening how = {.options = options ? *options : (vyre_device_options){0},
                              .allocator = vyre_allocator_or_system(allocator)};
    if (!out_device) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give a place for the device",
                         "out_device is NULL");
    }
    if (uri && strncmp(uri, "fault://", 8) == 0) {
        return open_faulty(registry, uri + 8, &how, out_device, diag);
    }
    return open_plain(registry, uri ? uri : "auto", &how, out_device, diag);
}

vyre_status vyre_device_open(const vyre_registry *registry, const char *uri,
                             const vyre_allocator *allocator, vyre_device **out_device,
                             vyre_diag *diag) {
    return vyre_device_open_with(registry, uri, NULL, allocator, out_device, diag);
}

vyre_status vyre_backend_explain(const vyre_registry *registry, const char *uri,
                                 const vyre_program *program, const vyre_split_options *options,
                                 const vyre_allocator *allocator, vyre_module **out_module,
                                 vyre_decision_fn tell, void *user, vyre_diag *diag) {
    static const vyre_split_options defaults;
    if (!uri || !program || !out_module || !tell) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT,
                         "give a URI, a program, a place for the module and whom to tell",
                         "an argument of vyre_backend_explain is NULL");
    }
    const char *path;
    const vyre_backend *backend = find_backend(registry, uri, &path);
    const vyre_allocator a = vyre_allocator_or_system(allocator);
    if (!backend) {
        return unknown_backend(registry, uri, name_length(uri), diag);
    }
    if (!backend->explain) {
        return vyre_fail(diag, VYRE_UNSUPPORTED, "ask one that compiles, such as cpu",
                         "%s runs programs as they are: it has nothing to decide", backend->name);
    }
    return backend->explain(backend, path, program, options ? options : &defaults, &a, out_module,
                            tell, user, diag);
}

/* A child of its process leaves the object alone: its threads are not there. */
static void close_object(vyre_device *device) {
    if (device->object && !vyre_process_was_forked(&device->process)) {
        device->table->close(device->object);
    }
    device->object = NULL;
}

/* What dispatches left for the next ones. */
static void drop_kept(vyre_device *device) {
    if (device->kept) {
        device->kept->drop(device);
    }
}

void vyre_device_close(vyre_device *device) {
    if (device) {
        vyre_queue_stop(device);
        drop_kept(device);
        pthread_mutex_destroy(&device->lock);
        close_object(device);
        free_device(device);
    }
}

const vyre_device_info *vyre_device_describe(const vyre_device *device) {
    return &device->info;
}

const vyre_capabilities *vyre_device_capabilities(const vyre_device *device) {
    return &device->can;
}

bool vyre_device_is_lost(const vyre_device *device) {
    return atomic_load(&device->is_lost) || vyre_process_was_forked(&device->process);
}

static vyre_status check_device(const vyre_device *device, vyre_diag *diag) {
    return device ? vyre_device_check_process(device, diag)
                  : vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give a device", "device is NULL");
}

void vyre_device_join(vyre_device *device, vyre_member *member) {
    pthread_mutex_lock(&device->lock);
    member->before = NULL;
    member->next = device->member;
    if (member->next) {
        member->next->before = member;
    }
    device->member = member;
    device->live++;
    pthread_mutex_unlock(&device->lock);
}

void vyre_device_leave(vyre_device *device, vyre_member *member) {
    if (!vyre_process_was_forked(
            &device->process)) { /* else nobody looks, and the lock may be held */
        pthread_mutex_lock(&device->lock);
        *(member->before ? &member->before->next : &device->member) = member->next;
        if (member->next) {
            member->next->before = member->before;
        }
        device->live--;
        pthread_mutex_unlock(&device->lock);
    }
}

vyre_status vyre_member_check(const vyre_member *member, const char *what, vyre_diag *diag) {
    return !member->is_lost
               ? VYRE_OK
               : vyre_fail(diag, VYRE_DEVICE_LOST, "make it anew on the device that was reopened",
                           "the %s was lost with its device", what);
}

/* Its object is about to be closed. */
static void lose_members(vyre_device *device) {
    for (vyre_member *m = device->member; m; m = m->next) {
        if (!m->is_lost) {
            m->lose(m);
            m->is_lost = true;
        }
    }
}

vyre_status vyre_device_prepare(vyre_device *device, vyre_diag *diag) {
    vyre_status status = check_device(device, diag);
    if (status == VYRE_OK) {
        status = vyre_queue_start(device, diag);
    }
    const vyre_call call = {.device = device};
    return status == VYRE_OK ? vyre_call_prepare(&call, diag) : status;
}

/* What nobody was told of yet. */
static vyre_status take_late(vyre_device *device, vyre_diag *diag) {
    pthread_mutex_lock(&device->lock);
    const vyre_status status = device->late;
    if (status != VYRE_OK && diag) {
        *diag = device->late_diag;
    }
    device->late = VYRE_OK;
    pthread_mutex_unlock(&device->lock);
    return status;
}

vyre_status vyre_device_flush(vyre_device *device, vyre_diag *diag) {
    vyre_status status = check_device(device, diag);
    if (status != VYRE_OK) {
        return status;
    }
    const vyre_call call = {.device = device};
    vyre_queue_drain(device);
    status = take_late(device, diag);
    return status == VYRE_OK ? vyre_call_flush(&call, diag) : status;
}

vyre_status vyre_device_shutdown(vyre_device *device, vyre_diag *diag) {
    vyre_status status = check_device(device, diag);
    if (status != VYRE_OK) {
        return status;
    }
    vyre_queue_drain(device);
    drop_kept(device);
    if (device->live) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT,
                         "destroy its buffers and release its pipelines first",
                         "%u buffers and pipelines of the %s device are still there", device->live,
                         device->info.backend);
    }
    const vyre_call call = {.device = device};
    status = vyre_device_flush(device, diag);
    const vyre_status last = vyre_call_shutdown(&call, status == VYRE_OK ? diag : NULL);
    atomic_store(&device->is_lost, true);
    close_object(device);
    return status == VYRE_OK ? last : status;
}

typedef struct metric {
    const char *name;
    uint64_t value;
} metric;

void vyre_device_metrics(vyre_device *device, vyre_metric_fn tell, void *user) {
    vyre_pipeline_cache cache;
    vyre_device_pipelines(device, &cache);
    pthread_mutex_lock(&device->lock);
    const uint64_t live = device->live;
    pthread_mutex_unlock(&device->lock);
    const metric all[] = {{"opens", device->opens},
                          {"buffers_and_pipelines", live},
                          {"cached_pipelines", cache.entries},
                          {"cached_pipeline_bytes", cache.bytes},
                          {"passes", atomic_load(&device->passes)}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tell(user, all[i].name, all[i].value);
    }
    if (device->table->metrics && !vyre_device_is_lost(device)) {
        device->table->metrics(device->object, tell, user);
    }
}

vyre_status vyre_device_reopen(vyre_device *device, vyre_diag *diag) {
    vyre_status status = check_device(device, diag);
    if (status != VYRE_OK) {
        return status;
    }
    drop_kept(device);
    atomic_store(&device->is_lost, true);
    lose_members(device);
    close_object(device);
    device->has_fault = device->has_fault && device->fault.mode == VYRE_FAULT_ALWAYS;
    status = open_object(device, diag);
    if (status == VYRE_OK) {
        atomic_store(&device->is_lost, false);
    }
    return status;
}
