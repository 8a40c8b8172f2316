/* A little OpenCL: the loader is opened when it is needed, so nothing links with it; the first CPU
 * device runs the kernels of one file. What fails while preparing is told; what fails later ends
 * the process. */
#ifndef VYRE_BENCH_PEERS_OPENCL_RUNTIME_H
#define VYRE_BENCH_PEERS_OPENCL_RUNTIME_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "peers/peer.h"

typedef struct opencl_argument {
    size_t size;
    const void *value; /* NULL: local memory of that size */
} opencl_argument;
#define ARG(x)                                                                                     \
    { sizeof(x), &(x) }
#define LOCAL(bytes)                                                                               \
    { bytes, NULL }

/* Opens the device and builds the kernels, once. */
bool opencl_open(void);
cl_mem opencl_room(size_t bytes);
cl_mem opencl_copy(const void *from, size_t bytes);
void opencl_write(cl_mem to, const void *from, size_t bytes);
void opencl_read(cl_mem from, void *to, size_t bytes); /* waits for all before it */
void opencl_zero(cl_mem buffer, size_t bytes);
/* Lanes along x and y, and the workgroup's. */
void opencl_launch(const char *name, const size_t lanes[2], const size_t group[2],
                   const opencl_argument *arguments, unsigned count);
void opencl_flush(void);
void opencl_finish(void);
/* Why there is no peer. */
const char *peer_why_not(void);

#endif
