/* Traces: a fixed array that threads fill through one atomic index, so that recording takes no
 * lock, allocates nothing and costs two clock readings. Written as the "complete events" of the
 * Chrome trace format, times in microseconds from the first span: threads of the host are one
 * "process", the workers of devices another, with a row for each. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "vyre/backend.h"

enum { DEFAULT_CAPACITY = 1 << 16, NAME_SIZE = 40, HOST = 1, WORKERS = 2, MOST_ROWS = 4096 };

typedef struct record {
    vyre_span span; /* its name is not valid */
    char name[NAME_SIZE];
    int32_t thread;
} record;

struct vyre_trace {
    vyre_allocator allocator;
    uint32_t capacity;
    atomic_uint_least64_t count; /* also of those that did not fit */
    record *records;
};

vyre_status vyre_trace_create(const vyre_allocator *allocator, uint32_t capacity,
                              vyre_trace **out_trace) {
    vyre_allocator a = vyre_allocator_or_system(allocator);
    vyre_trace *trace = vyre_alloc_zeroed(&a, 1, sizeof *trace);
    if (!trace) {
        return VYRE_OUT_OF_MEMORY;
    }
    trace->allocator = a;
    trace->capacity = capacity ? capacity : DEFAULT_CAPACITY;
    trace->records = vyre_alloc(&a, trace->capacity, sizeof *trace->records);
    if (!trace->records) {
        vyre_free(&a, trace, 1, sizeof *trace);
        return VYRE_OUT_OF_MEMORY;
    }
    *out_trace = trace;
    return VYRE_OK;
}

void vyre_trace_destroy(vyre_trace *trace) {
    if (trace) {
        vyre_allocator a = trace->allocator;
        vyre_free(&a, trace->records, trace->capacity, sizeof *trace->records);
        vyre_free(&a, trace, 1, sizeof *trace);
    }
}

uint32_t vyre_trace_count(const vyre_trace *trace) {
    uint64_t count = atomic_load(&trace->count);
    return count < trace->capacity ? (uint32_t)count : trace->capacity;
}

uint64_t vyre_trace_dropped(const vyre_trace *trace) {
    return atomic_load(&trace->count) - vyre_trace_count(trace);
}

void vyre_trace_add(vyre_trace *trace, const vyre_span *span) {
    uint64_t at = atomic_fetch_add(&trace->count, 1);
    if (at < trace->capacity) {
        record *r = &trace->records[at];
        r->span = *span;
        r->thread = span->worker ? (int32_t)(span->worker - 1) : (int32_t)gettid();
        vyre_diag_copy(r->name, sizeof r->name, span->name);
    }
}

/* A name as the inside of a JSON string; names are short and mostly identifiers. */
static void escape(const char *name, char *out) {
    for (; *name; name++) {
        unsigned char c = (unsigned char)*name;
        if (c == '"' || c == '\\') {
            *out++ = '\\';
        }
        *out++ = (char)(c < ' ' ? ' ' : c);
    }
    *out = '\0';
}

static bool write_record(const record *r, uint64_t origin, const char *comma, vyre_write_fn write,
                         void *user) {
    const vyre_span *span = &r->span;
    char text[512], name[2 * NAME_SIZE], args[96] = "";
    uint64_t begin = span->begin - origin, length = span->end - span->begin;
    escape(r->name, name);
    if (span->segment) {
        snprintf(args, sizeof args, "\"segment\":%u,\"of\":%u", span->segment, span->segment_count);
    } else if (span->launches) {
        snprintf(args, sizeof args, "\"launches\":%llu", (unsigned long long)span->launches);
    } else if (span->bytes) {
        snprintf(args, sizeof args, "\"bytes\":%llu", (unsigned long long)span->bytes);
    }
    int size =
        snprintf(text, sizeof text,
                 "%s\n{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%llu.%03u,"
                 "\"dur\":%llu.%03u,\"pid\":%d,\"tid\":%d,\"args\":{%s}}",
                 comma, name, span->category, (unsigned long long)(begin / 1000),
                 (unsigned)(begin % 1000), (unsigned long long)(length / 1000),
                 (unsigned)(length % 1000), span->worker ? WORKERS : HOST, (int)r->thread, args);
    return write(user, text, (size_t)size);
}

/* What the spans of a row say that it is called; NULL: nothing. */
static const char *row_name(const vyre_trace *trace, uint32_t row) {
    const uint32_t count = vyre_trace_count(trace);
    for (uint32_t i = 0; i < count; i++) {
        if (trace->records[i].span.worker == row + 1) {
            return trace->records[i].span.row;
        }
    }
    return NULL;
}

/* What rows are called; `workers` is how many there are. */
static bool write_names(const vyre_trace *trace, uint32_t workers, vyre_write_fn write,
                        void *user) {
    bool fine = true;
    for (uint32_t i = 0; i < workers && fine; i++) {
        char text[200], number[32];
        const char *name = row_name(trace, i);
        snprintf(number, sizeof number, "worker %u", (unsigned)i);
        int size = snprintf(text, sizeof text,
                            ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%u,"
                            "\"args\":{\"name\":\"%.40s\"}}",
                            WORKERS, (unsigned)i, name ? name : number);
        fine = write(user, text, (size_t)size);
    }
    return fine;
}

vyre_status vyre_trace_write(const vyre_trace *trace, vyre_write_fn write, void *user) {
    static const char head[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    uint32_t count = vyre_trace_count(trace);
    uint64_t origin = UINT64_MAX;
    uint32_t workers = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t begin = trace->records[i].span.begin;
        origin = begin < origin ? begin : origin;
        uint32_t worker = trace->records[i].span.worker;
        workers = worker > workers ? worker : workers;
    }
    bool fine = write(user, head, sizeof head - 1);
    for (uint32_t i = 0; i < count && fine; i++) {
        fine = write_record(&trace->records[i], origin, i ? "," : "", write, user);
    }
    workers = workers < MOST_ROWS ? workers : MOST_ROWS;
    fine = fine && write_names(trace, workers, write, user);
    char tail[80];
    int size = snprintf(tail, sizeof tail, "\n],\"otherData\":{\"dropped\":\"%llu\"}}\n",
                        (unsigned long long)vyre_trace_dropped(trace));
    return fine && write(user, tail, (size_t)size) ? VYRE_OK : VYRE_IO;
}
