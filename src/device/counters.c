/* Counting and exporting. Additions are relaxed atomics: a counter orders nothing. */
#include "device/counters.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "device/device.h"

static const struct {
    size_t offset; /* in vyre_counters */
    const char *metric, *label, *help;
} counters[VYRE_COUNTER_COUNT] = {
#define ROW(field, metric, label, help) {offsetof(vyre_counters, field), metric, label, help},
    VYRE_COUNTER_LIST(ROW)
#undef ROW
};
_Static_assert(sizeof(vyre_counters) ==
                   sizeof((vyre_counters *)0)->label + VYRE_COUNTER_COUNT * sizeof(uint64_t),
               "a field of vyre_counters is missing in VYRE_COUNTER_LIST");

void vyre_count_dispatch(vyre_counter_set *set, const vyre_dispatch_report *report) {
    const vyre_dispatch_stats *stats = &report->stats;
    vyre_count(set, VYRE_COUNT_launches, stats->launches);
    vyre_count(set, VYRE_COUNT_skipped_launches, stats->skipped_launches);
    vyre_count(set, VYRE_COUNT_passes, report->passes);
    vyre_count(set, VYRE_COUNT_host_waits, stats->host_waits);
    vyre_count(set, VYRE_COUNT_input_bytes, stats->bytes_in);
    vyre_count(set, VYRE_COUNT_output_bytes, stats->bytes_out);
    vyre_count(set, VYRE_COUNT_carried_bytes, stats->carried_bytes);
}

/* The only state that the process shares: what the earlier system counted there. */
static struct { atomic_uint_least64_t programs, segments, points; } process_splits;

static void add(atomic_uint_least64_t *to, uint64_t n) {
    atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

void vyre_count_split(vyre_counter_set *set, uint64_t segments, uint64_t points) {
    vyre_count(set, VYRE_COUNT_grid_sync_splits, 1);
    vyre_count(set, VYRE_COUNT_grid_sync_segments, segments);
    vyre_count(set, VYRE_COUNT_grid_sync_points, points);
    add(&process_splits.programs, 1);
    add(&process_splits.segments, segments);
    add(&process_splits.points, points);
}

static uint64_t now(const atomic_uint_least64_t *of) {
    return atomic_load_explicit(of, memory_order_relaxed);
}

vyre_split_counters vyre_process_splits(void) {
    return (vyre_split_counters){.programs = now(&process_splits.programs),
                                 .segments = now(&process_splits.segments),
                                 .points = now(&process_splits.points)};
}

static uint64_t value_of(const vyre_counters *from, uint32_t counter) {
    uint64_t value;
    memcpy(&value, (const char *)from + counters[counter].offset, sizeof value);
    return value;
}

void vyre_device_counters(const vyre_device *device, vyre_counters *out_counters) {
    vyre_counters all = {0};
    vyre_diag_copy(all.label, sizeof all.label, device->info.backend);
    for (uint32_t i = 0; i < VYRE_COUNTER_COUNT; i++) {
        uint64_t value = atomic_load_explicit(&device->counters.value[i], memory_order_relaxed);
        memcpy((char *)&all + counters[i].offset, &value, sizeof value);
    }
    *out_counters = all;
}

void vyre_device_pipelines(vyre_device *device, vyre_pipeline_cache *out_cache) {
    vyre_counters counted;
    vyre_device_counters(device, &counted);
    vyre_pipeline_cache cache = {.hits = counted.pipeline_hits, .misses = counted.pipeline_misses};
    pthread_mutex_lock(&device->lock);
    if (device->kept) {
        device->kept->describe(device, &cache);
    }
    pthread_mutex_unlock(&device->lock);
    *out_cache = cache;
}

/* A label's value between quotes: backslash, quote and line feed are escaped. */
static void escape(const char *text, char *out) {
    for (; *text; text++) {
        if (*text == '\\' || *text == '"' || *text == '\n') {
            *out++ = '\\';
        }
        *out++ = (char)(*text == '\n' ? 'n' : *text);
    }
    *out = '\0';
}

static bool write_line(const vyre_counters *from, uint32_t counter, vyre_write_fn write,
                       void *user) {
    char label[2 * sizeof from->label], line[512];
    const char *kind = counters[counter].label;
    escape(from->label, label);
    int length = snprintf(line, sizeof line, "vyre_driver_%s_total{device=\"%s\"%s%s} %llu\n",
                          counters[counter].metric, label, kind ? "," : "", kind ? kind : "",
                          (unsigned long long)value_of(from, counter));
    return write(user, line, (size_t)length);
}

static bool write_header(uint32_t counter, vyre_write_fn write, void *user) {
    char text[512];
    const char *metric = counters[counter].metric;
    int length = snprintf(text, sizeof text,
                          "# HELP vyre_driver_%s_total %s\n# TYPE vyre_driver_%s_total counter\n",
                          metric, counters[counter].help, metric);
    return write(user, text, (size_t)length);
}

vyre_status vyre_counters_write(const vyre_counters *all, uint32_t count, vyre_write_fn write,
                                void *user) {
    for (uint32_t i = 0; i < VYRE_COUNTER_COUNT; i++) {
        bool is_first = i == 0 || strcmp(counters[i].metric, counters[i - 1].metric) != 0;
        if (is_first && !write_header(i, write, user)) {
            return VYRE_IO;
        }
        for (uint32_t d = 0; d < count; d++) {
            if (!write_line(&all[d], i, write, user)) {
                return VYRE_IO;
            }
        }
    }
    return VYRE_OK;
}
