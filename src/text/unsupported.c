/* Types and operations that were refused on purpose say so, instead of being unknown: whoever
 * brings a program along need not look for a slip of the pen. */
#include "text/unsupported.h"

#include <stddef.h>
#include <string.h>

typedef struct entry {
    const char *begin; /* of the word; in full where `is_whole` */
    int is_whole;
    const char *fix;
} entry;

static const char by_component[] = "use one value, or one buffer, for each component";
static const char as_words[] = "store the bits in u32 or u8, and take them apart with shifts";
static const char as_buffers[] = "use a buffer for each of its arrays, with indices of your own";

static const entry types[] = {
    {"vec", 0, by_component},
    {"tensor", 0, as_buffers},
    {"sparse_", 0, as_buffers},
    {"array", 1, as_buffers},
    {"bytes", 1, "use u8[]"},
    {"handle", 1, "use buffers by their names"},
    {"fp8", 0, as_words},
    {"f8", 0, as_words},
    {"fp4", 1, as_words},
    {"nf4", 1, as_words},
    {"i4", 1, as_words},
    {"u4", 1, as_words},
    {"quantized", 0, as_words},
    {"device_mesh", 1, "run one process for each device"},
    {"opaque", 1, "use opaque functions, which take and give values"},
};

static const entry operations[] = {
    {"resume", 1, "store what is to go on, and dispatch again"},
    {"lru_update", 1, "use atomic_max on a time stamp"},
    {"atomic_lru_update", 1, "use atomic_max on a time stamp"},
    {"speculate", 1, "compute both, and select"},
    {"unpack4_low", 1, "use shifts and masks"},
    {"unpack4_high", 1, "use shifts and masks"},
    {"unpack8_low", 1, "use shifts and masks"},
    {"unpack8_high", 1, "use shifts and masks"},
    {"mma", 0, "write the loops; the compiler vectorises them"},
    {"tensor_", 0, "write the loops over a buffer"},
};

static const char *find(const entry *list, size_t count, const char *text) {
    for (size_t i = 0; i < count; i++) {
        const entry *w = &list[i];
        if (w->is_whole ? strcmp(text, w->begin) == 0
                        : strncmp(text, w->begin, strlen(w->begin)) == 0) {
            return w->fix;
        }
    }
    return NULL;
}

const char *vyre_unsupported_type(const char *word) {
    return find(types, sizeof types / sizeof *types, word);
}

const char *vyre_unsupported_operation(const char *word) {
    return find(operations, sizeof operations / sizeof *operations, word);
}
