/* NumPy's .npy format, versions 1.0, 2.0 and 3.0, one array per file. */
#ifndef VYRE_SRC_IO_NPY_H
#define VYRE_SRC_IO_NPY_H

#include "io/array.h"

/* What the head of a file says. */
typedef struct vyre_npy_head {
    vyre_type type; /* VYRE_U16 also for bf16, which NumPy lacks */
    uint64_t count; /* product of the shape */
    size_t offset;  /* of the first element in the file */
    size_t size;    /* bytes of one element in the file; bool has 1 */
} vyre_npy_head;

/* Reads the head and checks that exactly the declared bytes follow it. Never allocates. `name` is
 * the file's name in messages. */
vyre_status vyre_npy_parse(const void *data, size_t size, const char *name, vyre_npy_head *out,
                           vyre_diag *diag);

/* Turns the contents of a file into an array of type `want` (VYRE_VOID: whatever it holds). Takes
 * the bytes over on success. Any shape, flattened in C order; bool is widened to 32-bit words;
 * bf16 is taken from <u2. */
vyre_status vyre_npy_load(vyre_bytes *bytes, const char *name, vyre_type want, vyre_array *out,
                          vyre_diag *diag);

enum { VYRE_NPY_HEAD = 128 };
/* Head of a one-dimensional array, version 1.0; the data follow at a multiple of 64. */
void vyre_npy_head_write(vyre_type type, uint64_t count, char out[VYRE_NPY_HEAD]);
/* Writes an array (elements as stored in a buffer) as the stage's next output. */
vyre_status vyre_npy_stage(vyre_stage *stage, const char *path, vyre_type type, const void *data,
                           uint64_t count, vyre_diag *diag);

#endif
