/* Counters that are only added to. One list says what there is, and how it is exported. */
#ifndef VYRE_SRC_DEVICE_COUNTERS_H
#define VYRE_SRC_DEVICE_COUNTERS_H

#include <stdatomic.h>

#include "vyre/dispatch.h"
#include "vyre/telemetry.h"

/* X(field of vyre_counters, metric, label or NULL, help); lines of one metric stand together, the
 * help in the first. */
/* clang-format off */
#define VYRE_COUNTER_LIST(X)                                                                       \
    X(dispatches, "dispatches", NULL, "dispatches that succeeded")                                 \
    X(compiles, "compiles", NULL, "pipelines made")                                                \
    X(code_compiled, "code", "from=\"compiler\"", "kernels made, by where their code came from")   \
    X(code_from_disk, "code", "from=\"disk\"", "")                                                 \
    X(code_from_memory, "code", "from=\"memory\"", "")                                             \
    X(pipeline_hits, "pipeline_cache", "result=\"hit\"", "dispatches that found their program compiled, or did not") \
    X(pipeline_misses, "pipeline_cache", "result=\"miss\"", "")                                    \
    X(launches, "dispatch_launches", NULL, "kernel launches")                                      \
    X(skipped_launches, "skipped_launches", NULL, "steps without a launch, and launches ahead whose turn did not come") \
    X(passes, "passes", NULL, "passes over the grid, fixpoints included")                          \
    X(host_waits, "host_waits", NULL, "times that the host waited for the device")                 \
    X(input_bytes, "dispatch_bytes", "direction=\"input\"", "bytes to and from the device")        \
    X(output_bytes, "dispatch_bytes", "direction=\"output\"", "")                                  \
    X(output_slots, "dispatch_output_slots", "kind=\"total\"", "output slots filled")              \
    X(output_slots_reused, "dispatch_output_slots", "kind=\"reused\"", "")                         \
    X(output_slots_moved, "dispatch_output_slots", "kind=\"moved\"", "")                           \
    X(output_slots_appended, "dispatch_output_slots", "kind=\"appended\"", "")                     \
    X(slot_bytes_incoming, "dispatch_output_slot_bytes", "kind=\"incoming\"", "bytes of output slots") \
    X(slot_bytes_copied, "dispatch_output_slot_bytes", "kind=\"copied\"", "")                      \
    X(slot_bytes_moved, "dispatch_output_slot_bytes", "kind=\"moved\"", "")                        \
    X(slot_bytes_appended, "dispatch_output_slot_bytes", "kind=\"appended\"", "")                  \
    X(slot_bytes_retained, "dispatch_output_slot_bytes", "kind=\"retained_capacity\"", "")         \
    X(grid_sync_splits, "grid_sync_splits", "kind=\"programs\"", "programs split at grid barriers") \
    X(grid_sync_segments, "grid_sync_splits", "kind=\"segments\"", "")                             \
    X(grid_sync_points, "grid_sync_splits", "kind=\"sync_points\"", "")                            \
    X(carried_bytes, "carried_bytes", NULL, "bytes alive across grid barriers between segments")   \
    X(failed_frees, "failed_frees", NULL, "memory that the device did not free when asked to")
/* clang-format on */

typedef enum vyre_counter {
#define VYRE_COUNTER_ENUM(field, ...) VYRE_COUNT_##field,
    VYRE_COUNTER_LIST(VYRE_COUNTER_ENUM)
#undef VYRE_COUNTER_ENUM
        VYRE_COUNTER_COUNT
} vyre_counter;

typedef struct vyre_counter_set {
    atomic_uint_least64_t value[VYRE_COUNTER_COUNT];
} vyre_counter_set;

static inline void vyre_count(vyre_counter_set *set, vyre_counter counter, uint64_t n) {
    atomic_fetch_add_explicit(&set->value[counter], n, memory_order_relaxed);
}
/* A split program that ran, of the device and of the process. */
void vyre_count_split(vyre_counter_set *set, uint64_t segments, uint64_t points);
/* What a dispatch did, whether it succeeded or not. */
void vyre_count_dispatch(vyre_counter_set *set, const vyre_dispatch_report *report);

#endif
