/* Texts of C that are compiled together. */
#ifndef VYRE_TESTS_DIFF_EMITTED_TEXTS_H
#define VYRE_TESTS_DIFF_EMITTED_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which trap a pass ends with. */
typedef struct emitted_told {
    uint64_t lane;
    uint32_t address, line;
    const char *tag;
} emitted_told;
typedef int (*emitted_pass)(void *const *memory, const uint32_t *counts, const uint64_t *values,
                            const uint32_t *grid, emitted_told *trap);

/* Either not built yet, or pass is set, or the compiler refused it and what it said is in folder.
 */
typedef struct emitted_text {
    char *text;
    size_t length;
    char name[64]; /* its names at file scope begin with it, with "vy_" or "emitted_" */
    uint64_t group;
    bool is_wanted, is_built;
    void *object;
    emitted_pass pass;
    char folder[32];
    uint32_t users; /* kernels */
} emitted_text;

typedef struct emitted_texts {
    emitted_text **items;
    uint32_t count, capacity;
    uint32_t builds; /* runs of a compiler */
} emitted_texts;

/* The text that says the same if there is one; takes `text`, which malloc has made. NULL: out of
 * memory. */
emitted_text *emitted_texts_add(emitted_texts *all, char *text, size_t length, const char *name,
                                uint64_t group);
/* All of the text's group are to be built. */
void emitted_texts_want(emitted_texts *all, const emitted_text *text);
/* Builds all that are wanted and are not yet in one run of a compiler. If it refuses, halves are
 * built, so that it is known which text it was. `options` are words that come before the names of
 * files. */
void emitted_texts_build(emitted_texts *all, const char *options);
/* A folder with what a compiler refused. */
void emitted_remove(const char *folder);
void emitted_texts_finish(emitted_texts *all);

#endif
