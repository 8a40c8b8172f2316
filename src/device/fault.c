/* The fault decorator counts the calls of one entry of a device and fails when it is told to. It
 * forwards everything by the one list of entries and adds no state of its own to memory or kernels,
 * so that whatever the inner device can do, the decorated one can. Entries that the inner device
 * leaves out stay out, but `finish`: waiting may fail on every device. Counting is atomic: calls
 * may come from several threads. */
#include "device/fault.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/nearest.h"
#include "device/entries.h"

/* clang-format off */
enum {
#define OP(name, ...) OP_##name,
#define NOTHING(...)
    VYRE_DEVICE_ENTRIES(OP, NOTHING)
    OP_open,
    OP_COUNT
};
static const char *const op_names[OP_COUNT] = {
#define OP_NAME(name, ...) [OP_##name] = #name,
    VYRE_DEVICE_ENTRIES(OP_NAME, NOTHING)
    [OP_open] = "open",
};
/* clang-format on */
static const char *const mode_names[] = {"once", "always", "lost"};

typedef struct fault_device {
    vyre_allocator allocator;
    vyre_device_table table; /* of this device */
    const vyre_device_table *inner;
    vyre_backend_device *object;
    vyre_fault fault;
    atomic_uint_least64_t calls;
} fault_device;

/* What a driver would answer when that entry fails. */
static vyre_status failure_of(unsigned op) {
    return op == OP_allocate ? VYRE_OUT_OF_MEMORY
           : op == OP_compile || op == OP_compile_many || op == OP_compile_module ? VYRE_UNSUPPORTED
           : op == OP_open                                                        ? VYRE_NOT_FOUND
                           : VYRE_DEVICE_FAILED;
}

static vyre_status fail(const vyre_fault *fault, unsigned op, vyre_diag *diag) {
    if (fault->mode == VYRE_FAULT_LOST) {
        return vyre_fail(diag, VYRE_DEVICE_LOST, "reopen the device, or open it anew",
                         "the device was lost (a fault asked for at %s)", op_names[fault->op]);
    }
    return vyre_fail(diag, failure_of(op), "this failure was asked for; open the device without it",
                     "%s failed (a fault asked for)", op_names[op]);
}

/* Whether the call of that number fails. */
static bool strikes(const vyre_fault *fault, uint64_t call) {
    return fault->mode == VYRE_FAULT_ONCE ? call == fault->n : call >= fault->n;
}

/* Counts a call of `op`; not OK if it is to fail. */
static vyre_status strike(fault_device *f, unsigned op, vyre_diag *diag) {
    bool hit = op == f->fault.op && strikes(&f->fault, atomic_fetch_add(&f->calls, 1) + 1);
    return hit ? fail(&f->fault, op, diag) : VYRE_OK;
}

#define UNPACK(...) __VA_ARGS__
#define FORWARD_CAN_FAIL(name, arguments, ...)                                                     \
    static vyre_status fault_##name(vyre_backend_device *device, __VA_ARGS__) {                    \
        fault_device *f = (fault_device *)device;                                                  \
        vyre_status status = strike(f, OP_##name, diag);                                           \
        if (status != VYRE_OK && (OP_##name == OP_free || OP_##name == OP_disown)) {               \
            vyre_diag *unheard = diag;                                                             \
            diag = NULL; /* it fails to say so, but nothing leaks */                               \
            (void)f->inner->name(f->object, UNPACK arguments);                                     \
            diag = unheard;                                                                        \
        }                                                                                          \
        return status != VYRE_OK || !f->inner->name ? status                                       \
                                                    : f->inner->name(f->object, UNPACK arguments); \
    }
#define FORWARD_CANNOT(name, arguments, ...)                                                       \
    static void fault_##name(vyre_backend_device *device, __VA_ARGS__) {                           \
        fault_device *f = (fault_device *)device;                                                  \
        f->inner->name(f->object, UNPACK arguments);                                               \
    }
VYRE_DEVICE_ENTRIES(FORWARD_CAN_FAIL, FORWARD_CANNOT)

static void fault_close(vyre_backend_device *device) {
    fault_device *f = (fault_device *)device;
    vyre_allocator a = f->allocator;
    f->inner->close(f->object);
    vyre_free(&a, f, 1, sizeof *f);
}

static vyre_status no_choice(vyre_diag *diag, const char *what, const char *value,
                             const char *const *choices, uint32_t count) {
    vyre_nearest nearest = vyre_nearest_to(value);
    for (uint32_t i = 0; i < count; i++) {
        vyre_nearest_offer(&nearest, choices[i]);
    }
    return vyre_fail(
        diag, VYRE_INVALID_ARGUMENT,
        "write op=launch&n=3&mode=once; op is an entry such as open, allocate, write, "
        "read, copy, zero, compile, compile_many, launch, finish, fetch, await, compile_module, "
        "run_module; mode is once, always or lost",
        "a fault has no %s \"%s\"%s%s%s", what, value, nearest.best ? "; did you mean \"" : "",
        nearest.best ? nearest.best : "", nearest.best ? "\"?" : "");
}

static bool choose(const char *value, const char *const *choices, uint32_t count, uint8_t *out) {
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(value, choices[i]) == 0) {
            *out = (uint8_t)i;
            return true;
        }
    }
    return false;
}

static vyre_status parse_one(const char *key, const char *value, vyre_fault *fault,
                             vyre_diag *diag) {
    static const char *const keys[] = {"op", "n", "mode"};
    uint8_t which;
    if (!choose(key, keys, 3, &which)) {
        return no_choice(diag, "option", key, keys, 3);
    }
    if (which == 0) {
        return choose(value, op_names, OP_COUNT, &fault->op)
                   ? VYRE_OK
                   : no_choice(diag, "op", value, op_names, OP_COUNT);
    }
    if (which == 2) {
        return choose(value, mode_names, 3, &fault->mode)
                   ? VYRE_OK
                   : no_choice(diag, "mode", value, mode_names, 3);
    }
    size_t digits = strspn(value, "0123456789");
    fault->n = strtoull(value, NULL, 10);
    if (digits == 0 || digits > 18 || value[digits] != '\0' || fault->n == 0) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "count calls from 1", "\"n=%s\" is no call",
                         value);
    }
    return VYRE_OK;
}

vyre_status vyre_fault_parse(const char *query, vyre_fault *out_fault, vyre_diag *diag) {
    vyre_fault fault = {.op = OP_COUNT, .mode = VYRE_FAULT_ONCE, .n = 1};
    while (*query) {
        char pair[64];
        size_t length = strcspn(query, "&");
        char *equals = NULL;
        if (length < sizeof pair) {
            memcpy(pair, query, length);
            pair[length] = '\0';
            equals = strchr(pair, '=');
        }
        if (!equals) {
            return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "write op=launch&n=3&mode=once",
                             "\"%.60s\" is not key=value", query);
        }
        *equals = '\0';
        vyre_status status = parse_one(pair, equals + 1, &fault, diag);
        if (status != VYRE_OK) {
            return status;
        }
        query += length + (query[length] == '&');
    }
    if (fault.op == OP_COUNT) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "add op=launch, for instance",
                         "a fault needs op=");
    }
    *out_fault = fault;
    return VYRE_OK;
}

vyre_status vyre_fault_opening(const vyre_fault *fault, uint64_t call, vyre_diag *diag) {
    return fault->op == OP_open && strikes(fault, call) ? fail(fault, OP_open, diag) : VYRE_OK;
}

vyre_status vyre_fault_wrap(const vyre_fault *fault, const vyre_allocator *allocator,
                            const vyre_device_table **table, vyre_backend_device **object,
                            vyre_diag *diag) {
    fault_device *f = vyre_alloc_zeroed(allocator, 1, sizeof *f);
    if (!f) {
        return vyre_fail_memory(diag, "a device");
    }
    f->allocator = *allocator;
    f->inner = *table;
    f->object = *object;
    f->fault = *fault;
    atomic_init(&f->calls, 0);
    f->table.close = fault_close;
#define FILL(name, ...) f->table.name = f->inner->name ? fault_##name : NULL;
    VYRE_DEVICE_ENTRIES(FILL, FILL)
    f->table.finish = fault_finish;
    *table = &f->table;
    *object = (vyre_backend_device *)f;
    return VYRE_OK;
}
