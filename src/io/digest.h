/* Fingerprints of results, and comparing results; all NaNs count as equal in both. */
#ifndef VYRE_SRC_IO_DIGEST_H
#define VYRE_SRC_IO_DIGEST_H

#include "base/shortest.h"
#include "io/array.h"

/* XXH3-64 of the bytes, every NaN of a float type replaced by the canonical one. */
uint64_t vyre_digest(vyre_type type, const void *data, uint64_t count);

enum { VYRE_VALUE_TEXT = VYRE_SHORTEST_TEXT };
/* One stored element as text: shortest decimal that reads back the same, "nan", "true". */
void vyre_value_format(vyre_type type, const void *element, char out[VYRE_VALUE_TEXT]);

typedef enum vyre_difference {
    VYRE_SAME = 0,
    VYRE_DIFFERENT_TYPES,
    VYRE_DIFFERENT_COUNTS,
    VYRE_DIFFERENT_VALUES
} vyre_difference;

typedef struct vyre_comparison {
    vyre_difference difference;
    vyre_type type[2]; /* u8 for raw bytes */
    uint64_t count[2];
    /* The rest is about VYRE_DIFFERENT_VALUES. Zeros of different sign differ, by 0 ULP. */
    uint64_t first; /* index */
    char value[2][VYRE_VALUE_TEXT];
    uint64_t differing;
    uint64_t max_ulp; /* floats: largest distance in representable values */
    uint64_t nan;     /* floats: places where just one side is NaN; not in max_ulp */
} vyre_comparison;

void vyre_compare(vyre_type type, const void *a, const void *b, uint64_t count,
                  vyre_comparison *out);
/* Two .npy files, or two files of raw bytes; a mixture is refused. VYRE_OK also when they differ.
 */
vyre_status vyre_compare_files(const char *path_a, const char *path_b, const vyre_allocator *a,
                               vyre_comparison *out, vyre_diag *diag);

#endif
