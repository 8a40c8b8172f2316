/* Peers as contestants. Those of a shared object bring their own runtime, so they are opened only
 * in the process that runs them. */
#include <dlfcn.h>
#include <time.h>

#include "compare.h"

typedef struct theirs {
    const peer *peer;
    const bench_instance *instance;
    void *state;
} theirs;

bool way_counts_cpu;

uint64_t way_now(void) {
    struct timespec t;
    clock_gettime(way_counts_cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool reset(bench_way *way, char message[MESSAGE]) {
    theirs *t = way->state;
    message[0] = 0;
    if (t->peer->reset) {
        t->peer->reset(t->state);
    }
    return true;
}

static bool run(bench_way *way, uint64_t *out_ns, char message[MESSAGE]) {
    theirs *t = way->state;
    message[0] = 0;
    uint64_t begin = way_now();
    t->peer->run(t->state);
    *out_ns = way_now() - begin;
    return true;
}

static bool collect(bench_way *way, char message[MESSAGE]) {
    theirs *t = way->state;
    message[0] = 0;
    t->peer->collect(t->state, &t->instance->data);
    return true;
}

static void *symbol(const char *object, const char *name, char message[MESSAGE]) {
    void *library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    void *address = library ? dlsym(library, name) : NULL;
    if (!address) {
        snprintf(message, MESSAGE, "%.200s", dlerror());
    }
    return address;
}

bool theirs_prepare(const char *object, const char *name, const bench_instance *instance,
                    bench_way *out, char message[MESSAGE]) {
    const peer *(*find)(const char *) = peer_find;
    const char *(*why)(void) = NULL;
    if (object) {
        void *address = symbol(object, "peer_find", message), *reason;
        if (!address) {
            return false;
        }
        char ignored[MESSAGE];
        memcpy(&find, &address, sizeof find);
        reason = symbol(object, "peer_why_not", ignored);
        memcpy(&why, &reason, sizeof why);
    }
    theirs *t = calloc(1, sizeof *t);
    if (!t) {
        snprintf(message, MESSAGE, "out of memory");
        return false;
    }
    *t = (theirs){.peer = find(name), .instance = instance};
    if (!t->peer) {
        free(t);
        return false; /* without a word: nobody has written one */
    }
    t->state = t->peer->prepare(&instance->data);
    if (!t->state) {
        snprintf(message, MESSAGE, "%s", why ? why() : "out of memory");
        free(t);
        return false;
    }
    *out = (bench_way){t, reset, run, collect};
    return true;
}

bool theirs_limits(const char *object, int effort, peer_limits *out, char message[MESSAGE]) {
    void (*measure)(peer_limits *, int) = peer_limits_measure;
    if (object) {
        void *address = symbol(object, "peer_limits_measure", message);
        if (!address) {
            return false;
        }
        memcpy(&measure, &address, sizeof measure);
    }
    measure(out, effort);
    return true;
}
