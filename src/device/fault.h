/* The fault decorator: a device that fails on request, to test what happens then. */
#ifndef VYRE_SRC_DEVICE_FAULT_H
#define VYRE_SRC_DEVICE_FAULT_H

#include "vyre/backend.h"

typedef enum vyre_fault_mode {
    VYRE_FAULT_ONCE,   /* the n-th call fails */
    VYRE_FAULT_ALWAYS, /* the n-th and all later ones */
    VYRE_FAULT_LOST    /* the n-th loses the device; nothing is called on a lost one */
} vyre_fault_mode;

typedef struct vyre_fault {
    uint8_t op;   /* which entry; private to fault.c */
    uint8_t mode; /* vyre_fault_mode */
    uint64_t n;
} vyre_fault;

/* Reads "op=launch&n=3&mode=once"; n is 1 and mode once unless given. */
vyre_status vyre_fault_parse(const char *query, vyre_fault *out_fault, vyre_diag *diag);
/* To be asked before the inner device is opened, for the call-th time from 1. */
vyre_status vyre_fault_opening(const vyre_fault *fault, uint64_t call, vyre_diag *diag);
/* Replaces an open device by one that fails; the inner one is closed with it. On failure both stay
 * as they were. */
vyre_status vyre_fault_wrap(const vyre_fault *fault, const vyre_allocator *allocator,
                            const vyre_device_table **table, vyre_backend_device **object,
                            vyre_diag *diag);

#endif
