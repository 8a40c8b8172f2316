/* Plain data on its way in or out: a typed array, and a graph or sparse matrix in CSR form. */
#ifndef VYRE_SRC_IO_ARRAY_H
#define VYRE_SRC_IO_ARRAY_H

#include "io/file.h"
#include "vyre/type.h"

/* `count` elements of `type` as they are stored in a buffer (bool: 32-bit words). */
typedef struct vyre_array {
    vyre_type type;
    uint64_t count;
    void *data;       /* aligned for the type; lies inside the block */
    vyre_bytes block; /* the memory; not meant for others */
} vyre_array;

/* Memory that is not cleared. `count` at most 2^32-1, the longest buffer. */
vyre_status vyre_array_create(vyre_type type, uint64_t count, const vyre_allocator *a,
                              vyre_array *out, vyre_diag *diag);
/* Makes bytes[offset..) an array without copying, if their alignment allows it. Takes the bytes
 * over; their number must be a multiple of the element size. */
vyre_status vyre_array_adopt(vyre_type type, vyre_bytes *bytes, size_t offset, vyre_array *out,
                             vyre_diag *diag);
void vyre_array_finish(vyre_array *array);
static inline size_t vyre_array_size(const vyre_array *array) {
    return (size_t)array->count * vyre_type_size(array->type);
}

/* Compressed sparse rows: row r has col[row[r]] .. col[row[r + 1] - 1], ascending and distinct. */
typedef struct vyre_csr {
    uint32_t rows, columns;
    vyre_array row; /* u32[rows + 1] */
    vyre_array col; /* u32[entries] */
    vyre_array val; /* entries elements; type VYRE_VOID when there are no values */
} vyre_csr;

void vyre_csr_finish(vyre_csr *csr);

/* A value of an entry. */
typedef union vyre_number {
    uint32_t u32;
    int32_t i32;
    float f32;
    double f64;
} vyre_number;

typedef enum vyre_csr_merge {
    VYRE_MERGE_SUM,  /* values of equal entries are added in the order given */
    VYRE_MERGE_FIRST /* the first one stays */
} vyre_csr_merge;

/* The place of an entry. */
static inline uint64_t vyre_entry_place(uint32_t row, uint32_t column) {
    return (uint64_t)row << 32 | column;
}

/* Entries in any order. `places` is scratch: its contents are destroyed. `values` holds elements
 * of 4 or 8 bytes and may be NULL (then type is VYRE_VOID). */
typedef struct vyre_entries {
    uint64_t count;
    uint64_t *places;
    const void *values;
    vyre_type type;
    vyre_csr_merge merge;
} vyre_entries;

/* Sorts by row and column, stable, in time linear in entries and rows, and merges equal places.
 * Indices must be in range. A sum of integers that does not fit is refused. */
vyre_status vyre_csr_build(uint32_t rows, uint32_t columns, const vyre_entries *entries,
                           const vyre_allocator *a, vyre_csr *out, vyre_diag *diag);

#endif
