/* A device that computes like "ref" and writes down what the runtime asks of it. There is one
 * record per process, which is one per test. */
#ifndef VYRE_TESTS_CONFORM_RECORDER_H
#define VYRE_TESTS_CONFORM_RECORDER_H

#include "conform/conform.h"
#include "vyre/backend.h"

enum { RECORDER_LAUNCHES = 64, RECORDER_BUFFERS = 8 };

typedef struct recorded_launch {
    bool waits; /* the kernel has a grid barrier inside */
    vyre_memory memory[RECORDER_BUFFERS];
    uint32_t memory_count;
    uint32_t grid[3];
    uint64_t deadline_ns;
} recorded_launch;

typedef struct recorder {
    vyre_device_info info; /* what the device says of itself; set by recorder_open, then yours */
    uint64_t device_ns;    /* what each launch says that it took */
    void (*on_launch)(void);
    uint32_t allocated, freed, compiled, destroyed, writes, reads;
    uint64_t bytes_written, bytes_read;
    vyre_memory last_memory; /* of the last write */
    uint64_t last_offset, last_size;
    uint32_t launch_count;
    recorded_launch launches[RECORDER_LAUNCHES]; /* the first ones */
} recorder;
extern recorder recorder_log;

/* A registry with the built-in backends and "recorder", which takes segments unless
 * recorder_log.info says otherwise before the device is opened. */
vyre_registry *recorder_registry(void);
/* A fresh record. The device of the level, plain. */
vyre_device *recorder_open(vyre_level level);
/* Dispatches, every barrier kept; the status must be as wanted. */
vyre_dispatch_report recorder_run(vyre_device *device, const char *text, const vyre_input *inputs,
                                  uint32_t input_count, const vyre_dispatch_options *options,
                                  vyre_output *outputs, uint32_t output_count, vyre_status want);

#endif
