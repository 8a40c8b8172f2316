/* Ground of the API: version, status codes, the allocator seam, source places and diagnostics.
 *
 * Conventions of the whole API
 *  - Functions that can fail return vyre_status. Inputs come first, then an options struct (all
 *    zero means default), then out_ parameters, then `vyre_diag *diag`, which may be NULL.
 *  - On failure out_ parameters are left as they were and nothing is leaked.
 *  - create/destroy allocate; init/finish use the caller's memory; retain/release count.
 *    destroy(NULL) and release(NULL) do nothing.
 *  - The library never prints, exits, aborts, reads the environment or installs signal handlers.
 */
#ifndef VYRE_BASE_H
#define VYRE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VYRE_VERSION_MAJOR  0
#define VYRE_VERSION_MINOR  1
#define VYRE_VERSION_PATCH  0
#define VYRE_VERSION_STRING "0.1.0"

#if defined(__GNUC__)
#    define VYRE_API               __attribute__((visibility("default")))
#    define VYRE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#    define VYRE_API
#    define VYRE_PRINTF(fmt, args)
#endif

/* What went wrong, coarsely; a vyre_diag tells the rest. Values are stable and only appended to. */
typedef enum vyre_status {
    VYRE_OK = 0,
    VYRE_OUT_OF_MEMORY = 1,
    VYRE_INVALID_ARGUMENT = 2, /* the call itself is wrong: NULL, foreign handle, bad option */
    VYRE_INVALID_PROGRAM = 3,  /* the parser, the builder or the validator refused the program */
    VYRE_INVALID_INPUT = 4,    /* data given to a valid program or planner is wrong */
    VYRE_IO = 5,               /* a file could not be read or written */
    VYRE_UNSUPPORTED = 6,      /* valid, but this device or this version can't */
    VYRE_NOT_FOUND = 7,        /* no such backend, device, name */
    VYRE_LIMIT = 8,            /* a documented limit would be exceeded */
    VYRE_TRAP = 9,             /* a lane ran `trap` */
    VYRE_STEP_BUDGET = 10,
    VYRE_TIMEOUT = 11,
    VYRE_CANCELLED = 12,
    VYRE_DEVICE_LOST = 13,
    VYRE_CHECK_FAILED = 14, /* a check that was asked for failed: races, budget */
    VYRE_INTERNAL = 15,     /* a defect of vyre itself; please report it */
    VYRE_DEVICE_FAILED = 16 /* a call of the driver failed; the device is still there */
} vyre_status;

/* A short lower-case name such as "out of memory"; never NULL, also for unknown values. */
VYRE_API const char *vyre_status_name(vyre_status status);

/* "0.1.0". */
VYRE_API const char *vyre_version(void);

/* The one way memory is obtained. `resize` behaves like realloc with the old size told:
 *   ptr NULL           -> allocate new_size bytes, aligned for any type, or return NULL
 *   new_size 0         -> free ptr, return NULL
 *   else               -> grow or shrink; on NULL the old block is still valid.
 * It must be callable from every thread that uses objects made with it. The struct is copied by
 * value; `user` must outlive those objects. */
typedef struct vyre_allocator {
    void *(*resize)(void *user, void *ptr, size_t old_size, size_t new_size);
    void *user;
} vyre_allocator;

/* malloc-based allocator; used wherever a `const vyre_allocator *` is NULL. */
VYRE_API vyre_allocator vyre_allocator_system(void);

/* A place in a source text (or in C code that builds a program). line and col count from 1 and
 * 0 means unknown; columns count bytes; end_col is one past the last byte of the range and lies on
 * the same line. `file` is borrowed, may be NULL. */
typedef struct vyre_place {
    const char *file;
    uint32_t line;
    uint32_t col;
    uint32_t end_col;
} vyre_place;

/* The place of a builder call in C code. */
#define VYRE_HERE (vyre_place_of(__FILE__, (uint32_t)__LINE__))
static inline vyre_place vyre_place_of(const char *file, uint32_t line) {
    vyre_place place;
    place.file = file;
    place.line = line;
    place.col = 0;
    place.end_col = 0;
    return place;
}

typedef enum vyre_severity {
    VYRE_ERROR = 0,
    VYRE_WARNING = 1,
    VYRE_NOTE = 2 /* belongs to the error or warning before it in a list */
} vyre_severity;

enum { VYRE_DIAG_TEXT = 480, VYRE_DIAG_FIX = 240, VYRE_DIAG_FILE = 120 };

/* One diagnostic: what, where, what to do. Plain data with its text inside, so that reporting an
 * error never allocates. Texts that do not fit are cut at a character boundary and end in "...".
 * A zeroed diag means "nothing reported". */
typedef struct vyre_diag {
    vyre_status status;
    vyre_severity severity;
    char code[8]; /* "V066", or "" for errors outside the catalogue */
    char file[VYRE_DIAG_FILE];
    uint32_t line, col, end_col;
    uint32_t segment, segment_count; /* 1-based "segment i of n"; 0 when not about a segment */
    int64_t native;                  /* code of the operating system or the driver, else 0 */
    char message[VYRE_DIAG_TEXT];
    char fix[VYRE_DIAG_FIX]; /* what to do about it; "" if there is nothing to say */
} vyre_diag;

/* Caller-owned room for several diagnostics. Set items and capacity; `count` is how many were
 * stored, `errors` and `warnings` how many were reported, stored or not. */
typedef struct vyre_diag_list {
    vyre_diag *items;
    uint32_t capacity;
    uint32_t count;
    uint32_t errors;
    uint32_t warnings;
} vyre_diag_list;

#ifdef __cplusplus
}
#endif

#endif
