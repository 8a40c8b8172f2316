/* "ref-split" behind a queue. Launches, copies, zeroing and fetches are commands in a list; they
 * run in order when somebody waits for them, and await waits for no more than it must. A launch
 * that ran stays in the list until its pass asks what came of it. Lanes run in another order in
 * each launch. One lock for each device: threads may share it. */
#include "diff/queued.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "device/builtin.h"

/* Enough for each launch of a random program; one that needs more would not end. */
enum { MOST_STEPS = 4000000 };

typedef enum kind { LAUNCH, COPY, ZERO, FETCH } kind;

typedef struct command {
    struct command *next;
    kind kind;
    bool is_done;
    uint64_t number; /* of the device; of a fetch it is the ticket */
    vyre_status status;
    vyre_diag diag;
    /* LAUNCH: with copies of its arrays */
    vyre_backend_kernel *kernel;
    vyre_launch launch;
    vyre_launch_result result;
    /* The others; FETCH: `word` is what was read */
    vyre_memory to, from;
    uint64_t to_offset, from_offset, size, word, pass;
} command;

typedef struct queue_device {
    vyre_backend_device *inner;
    uint32_t ahead;
    pthread_mutex_t lock;
    command *first, **last;
    uint64_t commands, waiting;
} queue_device;

typedef struct queue_kernel {
    vyre_backend_kernel *inner;
    uint32_t decl_count;
} queue_kernel;

static atomic_uint_least64_t launches, most_waiting, told, left;

queued_log queued_so_far(void) {
    return (queued_log){launches, most_waiting, told, left};
}

static const vyre_device_table *ref(void) {
    return vyre_backend_ref_split.device;
}

static void free_command(command *c) {
    free((void *)(uintptr_t)c->launch.memory);
    free((void *)(uintptr_t)c->launch.counts);
    free((void *)(uintptr_t)c->launch.values);
    free(c);
}

/* Takes it out of the list. */
static void remove_command(queue_device *q, command **at) {
    command *c = *at;
    *at = c->next;
    q->last = q->last == &c->next ? at : q->last;
    q->waiting -= !c->is_done;
    free_command(c);
}

static void enqueue(queue_device *q, command *c) {
    pthread_mutex_lock(&q->lock);
    c->number = ++q->commands;
    *q->last = c;
    q->last = &c->next;
    q->waiting++;
    most_waiting = q->waiting > most_waiting ? q->waiting : most_waiting;
    pthread_mutex_unlock(&q->lock);
}

static void run_launch(const queue_device *q, command *c) {
    vyre_launch one = c->launch;
    one.order = (vyre_order)(c->number % 4);
    one.order_seed = c->number;
    one.max_steps = MOST_STEPS;
    c->status = ref()->launch(q->inner, c->kernel, &one, &c->result, &c->diag);
    c->result.device_ns = c->result.steps + 1;
    c->result.is_timed = true;
    launches++;
}

static void run_command(const queue_device *q, command *c) {
    const vyre_device_table *t = ref();
    switch (c->kind) {
    case LAUNCH: run_launch(q, c); break;
    case COPY:
        c->status = t->copy(q->inner, c->to, c->to_offset, c->from, c->from_offset, c->size, NULL);
        break;
    case ZERO: c->status = t->zero(q->inner, c->to, c->to_offset, c->size, NULL); break;
    case FETCH:
        c->status = t->read(q->inner, c->from, c->from_offset, &c->word, c->size, NULL);
        break;
    }
}

/* All up to that number; the lock is held. */
static void work(queue_device *q, uint64_t until) {
    for (command **at = &q->first; *at && (*at)->number <= until;) {
        command *c = *at;
        if (!c->is_done) {
            run_command(q, c);
            q->waiting--;
            c->is_done = true;
        }
        if (c->kind == COPY || c->kind == ZERO) {
            remove_command(q, at);
        } else {
            at = &c->next;
        }
    }
}

static queue_device *drained(vyre_backend_device *device) {
    queue_device *q = (queue_device *)device;
    pthread_mutex_lock(&q->lock);
    work(q, UINT64_MAX);
    pthread_mutex_unlock(&q->lock);
    return q;
}

/* What came of the launches of a pass up to that command; the lock is held. */
static void tell(queue_device *q, uint64_t pass, uint64_t until, vyre_launch_results *results) {
    for (command **at = &q->first; *at && (*at)->number <= until;) {
        const command *c = *at;
        if (c->kind == LAUNCH && c->launch.pass == pass) {
            vyre_launch_results_add(results, &c->launch, c->status, &c->result, &c->diag);
            remove_command(q, at);
        } else {
            at = &(*at)->next;
        }
    }
}

/* Entries */

static void describe(vyre_backend_device *device, vyre_device_info *out_info) {
    const queue_device *q = (const queue_device *)device;
    ref()->describe(q->inner, out_info);
    out_info->is_oracle = false;
    out_info->reports_device_time = true;
    out_info->launches_ahead = q->ahead;
}

static void close_device(vyre_backend_device *device) {
    queue_device *q = (queue_device *)device;
    while (q->first) {
        left++;
        remove_command(q, &q->first);
    }
    ref()->close(q->inner);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

static vyre_status allocate(vyre_backend_device *device, uint64_t size, vyre_memory *out_memory,
                            vyre_diag *diag) {
    return ref()->allocate(((queue_device *)device)->inner, size, out_memory, diag);
}

static vyre_status free_memory(vyre_backend_device *device, vyre_memory memory, vyre_diag *diag) {
    return ref()->free(drained(device)->inner, memory, diag);
}

static vyre_status write_memory(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                                const void *data, uint64_t size, vyre_diag *diag) {
    return ref()->write(drained(device)->inner, memory, offset, data, size, diag);
}

static vyre_status read_memory(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                               void *data, uint64_t size, vyre_diag *diag) {
    return ref()->read(drained(device)->inner, memory, offset, data, size, diag);
}

static vyre_status equal(vyre_backend_device *device, vyre_memory a, vyre_memory b, uint64_t size,
                         bool *out_equal, vyre_diag *diag) {
    return ref()->equal(drained(device)->inner, a, b, size, out_equal, diag);
}

static vyre_status enqueue_copy_of(vyre_backend_device *device, const command *content,
                                   uint64_t *out_number, vyre_diag *diag) {
    command *c = malloc(sizeof *c);
    if (!c) {
        return vyre_fail_memory(diag, "a command");
    }
    *c = *content;
    enqueue((queue_device *)device, c);
    *out_number = c->number;
    return VYRE_OK;
}

static vyre_status copy(vyre_backend_device *device, vyre_memory to, uint64_t to_offset,
                        vyre_memory from, uint64_t from_offset, uint64_t size, vyre_diag *diag) {
    uint64_t number;
    const command c = {.kind = COPY,
                       .to = to,
                       .to_offset = to_offset,
                       .from = from,
                       .from_offset = from_offset,
                       .size = size};
    return enqueue_copy_of(device, &c, &number, diag);
}

static vyre_status zero(vyre_backend_device *device, vyre_memory memory, uint64_t offset,
                        uint64_t size, vyre_diag *diag) {
    uint64_t number;
    const command c = {.kind = ZERO, .to = memory, .to_offset = offset, .size = size};
    return enqueue_copy_of(device, &c, &number, diag);
}

static vyre_status fetch(vyre_backend_device *device, uint64_t pass, vyre_memory memory,
                         uint64_t offset, uint64_t size, vyre_ticket *out_ticket, vyre_diag *diag) {
    const command c = {
        .kind = FETCH, .from = memory, .from_offset = offset, .size = size, .pass = pass};
    return enqueue_copy_of(device, &c, out_ticket, diag);
}

static vyre_status await(vyre_backend_device *device, vyre_ticket ticket, void *data, uint64_t size,
                         vyre_launch_results *results, vyre_diag *diag) {
    queue_device *q = (queue_device *)device;
    pthread_mutex_lock(&q->lock);
    if (data) {
        work(q, ticket);
    }
    command **at = &q->first;
    while (*at && ((*at)->number != ticket || (*at)->kind != FETCH)) {
        at = &(*at)->next;
    }
    const bool is_there = *at && (*at)->size == size;
    if (is_there) {
        const command fetched = **at;
        remove_command(q, at);
        if (data) {
            const uint64_t before = results->launches;
            tell(q, fetched.pass, ticket, results);
            told += results->launches - before;
            memcpy(data, &fetched.word, size);
        }
    }
    pthread_mutex_unlock(&q->lock);
    return is_there ? VYRE_OK : vyre_fail(diag, VYRE_INTERNAL, "", "there is no such ticket");
}

static vyre_status finish(vyre_backend_device *device, uint64_t pass, vyre_launch_results *results,
                          vyre_diag *diag) {
    (void)diag;
    queue_device *q = (queue_device *)device;
    pthread_mutex_lock(&q->lock);
    work(q, UINT64_MAX);
    tell(q, pass, UINT64_MAX, results);
    pthread_mutex_unlock(&q->lock);
    return VYRE_OK;
}

static vyre_status compile(vyre_backend_device *device, const vyre_program *program,
                           vyre_backend_kernel **out_kernel, vyre_diag *diag) {
    queue_kernel *kernel = malloc(sizeof *kernel);
    if (!kernel) {
        return vyre_fail_memory(diag, "a kernel");
    }
    kernel->decl_count = vyre_program_get(program)->decl_count;
    vyre_status status =
        ref()->compile(((queue_device *)device)->inner, program, &kernel->inner, diag);
    if (status != VYRE_OK) {
        free(kernel);
    } else {
        *out_kernel = (vyre_backend_kernel *)kernel;
    }
    return status;
}

static void destroy(vyre_backend_device *device, vyre_backend_kernel *object) {
    queue_kernel *kernel = (queue_kernel *)object;
    ref()->destroy(drained(device)->inner, kernel->inner);
    free(kernel);
}

static void *copy_of(const void *array, size_t size) {
    void *to = malloc(size + 1);
    return to ? memcpy(to, array, size) : NULL;
}

static vyre_status launch(vyre_backend_device *device, vyre_backend_kernel *object,
                          const vyre_launch *one, vyre_launch_result *out_result, vyre_diag *diag) {
    const queue_kernel *kernel = (const queue_kernel *)object;
    const size_t count = kernel->decl_count;
    command *c = calloc(1, sizeof *c);
    if (c) {
        c->kind = LAUNCH;
        c->kernel = kernel->inner;
        c->launch = *one;
        c->launch.memory = copy_of(one->memory, count * sizeof *one->memory);
        c->launch.counts = copy_of(one->counts, count * sizeof *one->counts);
        c->launch.values = copy_of(one->values, count * sizeof *one->values);
    }
    if (!c || !c->launch.memory || !c->launch.counts || !c->launch.values) {
        if (c) {
            free_command(c);
        }
        return vyre_fail_memory(diag, "a launch");
    }
    enqueue((queue_device *)device, c);
    out_result->is_queued = true;
    return VYRE_OK;
}

/* Takes "ahead=N" out of the path. */
static uint32_t take_ahead(const char *path, char *rest, size_t size) {
    static const char name[] = "ahead=";
    uint32_t ahead = 0;
    size_t length = 0;
    rest[0] = '\0';
    while (*path) {
        const size_t part = strcspn(path, "&");
        if (strncmp(path, name, sizeof name - 1) == 0) {
            ahead = (uint32_t)strtoul(path + sizeof name - 1, NULL, 10);
        } else if (length + part + 2 < size) {
            length += (size_t)snprintf(rest + length, size - length, "%s%.*s", length ? "&" : "",
                                       (int)part, path);
        }
        path += part + (path[part] == '&');
    }
    return ahead;
}

static vyre_status open_device(const vyre_backend *backend, const char *path,
                               const vyre_allocator *allocator, vyre_backend_device **out_device,
                               vyre_diag *diag) {
    char rest[256];
    (void)backend;
    queue_device *q = calloc(1, sizeof *q);
    if (!q || pthread_mutex_init(&q->lock, NULL) != 0) {
        free(q);
        return vyre_fail_memory(diag, "a device");
    }
    q->ahead = take_ahead(path, rest, sizeof rest);
    q->last = &q->first;
    vyre_status status =
        vyre_backend_ref_split.open(&vyre_backend_ref_split, rest, allocator, &q->inner, diag);
    if (status != VYRE_OK) {
        pthread_mutex_destroy(&q->lock);
        free(q);
    } else {
        *out_device = (vyre_backend_device *)q;
    }
    return status;
}

vyre_status queued_add(vyre_registry *registry, vyre_diag *diag) {
    static const vyre_device_table table = {.close = close_device,
                                            .describe = describe,
                                            .allocate = allocate,
                                            .free = free_memory,
                                            .write = write_memory,
                                            .read = read_memory,
                                            .copy = copy,
                                            .zero = zero,
                                            .equal = equal,
                                            .compile = compile,
                                            .destroy = destroy,
                                            .launch = launch,
                                            .finish = finish,
                                            .fetch = fetch,
                                            .await = await};
    static const vyre_backend backend = {.name = "ref-queue",
                                         .description = "reference interpreter behind a queue",
                                         .rank = 904,
                                         .device = &table,
                                         .open = open_device};
    return vyre_registry_add(registry, &backend, diag);
}
