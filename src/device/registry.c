/* The set of backends: the built-in ones, and those that an embedder adds. Kept sorted by rank,
 * then name, so that order never depends on who registered first. There is no global state: without
 * a registry the constant table of built-ins serves. */
#include "device/registry.h"

#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "device/builtin.h"

typedef struct entry {
    const vyre_backend *backend;
} entry;

#define ENTRY(table) {&table},
static const entry builtin[] = {VYRE_BUILTIN_BACKENDS(ENTRY)};
enum { BUILTIN_COUNT = sizeof builtin / sizeof *builtin };

struct vyre_registry {
    vyre_allocator allocator;
    VYRE_VEC(entry) backends;
};

uint32_t vyre_backend_count(const vyre_registry *registry) {
    return registry ? registry->backends.count : BUILTIN_COUNT;
}

const vyre_backend *vyre_registry_at(const vyre_registry *registry, uint32_t index) {
    if (index >= vyre_backend_count(registry)) {
        return NULL;
    }
    return (registry ? registry->backends.data : builtin)[index].backend;
}

const char *vyre_backend_name(const vyre_registry *registry, uint32_t index) {
    const vyre_backend *backend = vyre_registry_at(registry, index);
    return backend ? backend->name : NULL;
}

const vyre_backend *vyre_registry_find(const vyre_registry *registry, const char *name,
                                       size_t length) {
    for (uint32_t i = 0; i < vyre_backend_count(registry); i++) {
        const vyre_backend *backend = vyre_registry_at(registry, i);
        if (strlen(backend->name) == length && memcmp(backend->name, name, length) == 0) {
            return backend;
        }
    }
    return NULL;
}

static bool comes_before(const vyre_backend *a, const vyre_backend *b) {
    return a->rank != b->rank ? a->rank < b->rank : strcmp(a->name, b->name) < 0;
}

static bool insert(vyre_registry *registry, const vyre_backend *backend) {
    if (!vyre_vec_reserve(&registry->allocator, &registry->backends, 1)) {
        return false;
    }
    entry *data = registry->backends.data;
    uint32_t at = registry->backends.count++;
    for (; at > 0 && comes_before(backend, data[at - 1].backend); at--) {
        data[at] = data[at - 1];
    }
    data[at].backend = backend;
    return true;
}

vyre_status vyre_registry_create(const vyre_allocator *allocator, vyre_registry **out_registry) {
    vyre_allocator a = vyre_allocator_or_system(allocator);
    vyre_registry *registry = vyre_alloc_zeroed(&a, 1, sizeof *registry);
    if (!registry) {
        return VYRE_OUT_OF_MEMORY;
    }
    registry->allocator = a;
    for (uint32_t i = 0; i < BUILTIN_COUNT; i++) {
        if (!insert(registry, builtin[i].backend)) {
            vyre_registry_destroy(registry);
            return VYRE_OUT_OF_MEMORY;
        }
    }
    *out_registry = registry;
    return VYRE_OK;
}

void vyre_registry_destroy(vyre_registry *registry) {
    if (registry) {
        vyre_allocator a = registry->allocator;
        vyre_vec_free(&a, &registry->backends);
        vyre_free(&a, registry, 1, sizeof *registry);
    }
}

/* Letters, digits and dashes: a name stands in URIs, options and file names. "auto" and "fault"
 * mean something else there. */
static bool is_name(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    return name && *name && strspn(name, letters) == strlen(name) &&
           strlen(name) < sizeof((vyre_device_info *)0)->backend && strcmp(name, "auto") != 0 &&
           strcmp(name, "fault") != 0;
}

static const char *missing_entry(const vyre_device_table *table) {
    const bool has_none = table->launch_bytes != NULL; /* no memory of its own */
    struct {
        const char *name;
        bool is_there;
    } required[] = {
        {"close", table->close != NULL},
        {"describe", table->describe != NULL},
        {"compile", table->compile != NULL},
        {"destroy", table->destroy != NULL},
        {"allocate", has_none || table->allocate != NULL},
        {"free", has_none || table->free != NULL},
        {"write", has_none || table->write != NULL},
        {"read", has_none || table->read != NULL},
        {"copy", has_none || table->copy != NULL},
        {"zero", has_none || table->zero != NULL},
        {"launch", has_none || table->launch != NULL},
    };
    for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
        if (!required[i].is_there) {
            return required[i].name;
        }
    }
    return NULL;
}

vyre_status vyre_registry_add(vyre_registry *registry, const vyre_backend *backend,
                              vyre_diag *diag) {
    if (!registry || !backend) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give a registry and a backend",
                         "registry or backend is NULL");
    }
    if (!is_name(backend->name)) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT,
                         "use at most 31 lower-case letters, digits and dashes, and not \"auto\" "
                         "or \"fault\"",
                         "\"%s\" is not a backend name", backend->name ? backend->name : "");
    }
    const char *missing = !backend->open     ? "open"
                          : !backend->device ? "device"
                                             : missing_entry(backend->device);
    if (missing) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "fill in every entry that is not optional",
                         "backend \"%s\" has no entry \"%s\"", backend->name, missing);
    }
    if (vyre_registry_find(registry, backend->name, strlen(backend->name))) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "choose another name",
                         "a backend \"%s\" is already registered", backend->name);
    }
    return insert(registry, backend) ? VYRE_OK : vyre_fail_memory(diag, "the registry");
}

void vyre_registry_remove(vyre_registry *registry, const char *name) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < registry->backends.count; i++) {
        if (strcmp(registry->backends.data[i].backend->name, name) != 0) {
            registry->backends.data[kept++] = registry->backends.data[i];
        }
    }
    registry->backends.count = kept;
}
