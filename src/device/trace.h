/* Recording spans. */
#ifndef VYRE_SRC_DEVICE_TRACE_H
#define VYRE_SRC_DEVICE_TRACE_H

#include "vyre/telemetry.h"

typedef struct vyre_span {
    const char *category;            /* static */
    const char *name;                /* copied */
    uint64_t begin, end;             /* ns */
    uint64_t bytes;                  /* moved or allocated; 0: says nothing */
    uint32_t segment, segment_count; /* of a launch: 1-based, 0: a whole program */
    uint64_t launches;               /* whose turn did not come; 0: says nothing */
} vyre_span;

/* trace may not be NULL. */
void vyre_trace_add(vyre_trace *trace, const vyre_span *span);

#endif
