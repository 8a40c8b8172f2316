/* What is in a program that the differential test runs: features and kinds of carry, so that a run
 * can tell how many programs had each. */
#ifndef VYRE_TESTS_DIFF_FACTS_H
#define VYRE_TESTS_DIFF_FACTS_H

#include "vyre/split.h"

/* Statements count where they are reached by calls from the entry. */
#define DIFFER_FEATURES(X)                                                                         \
    X(GRID_SYNC, "grid_sync")                                                                      \
    X(NESTED, "grid_sync in if or loop")                                                           \
    X(DEEP, "grid_sync 2 or more deep")                                                            \
    X(LOOP, "grid_sync in for")                                                                    \
    X(WHILE, "grid_sync in while")                                                                 \
    X(REGION, "grid_sync in region")                                                               \
    X(MEMORY, "while on memory")                                                                   \
    X(STRIDE, "for over all elements")                                                             \
    X(EVEN, "grid_sync in for that lanes begin apart")                                             \
    X(TURNS, "elements told apart from trip to trip")                                              \
    X(JUMP, "break or continue")                                                                   \
    X(END, "exit")                                                                                 \
    X(TRAP, "trap")                                                                                \
    X(TRAPPED, "ends by a trap")                                                                   \
    X(FUNCTION, "function with grid_sync")                                                         \
    X(OPAQUE, "opaque function")                                                                   \
    X(WORKGROUP, "workgroup memory")                                                               \
    X(BARRIER, "workgroup barrier")                                                                \
    X(PRIVATE, "private array")                                                                    \
    X(ATOMIC, "atomic")                                                                            \
    X(SUBGROUP, "subgroup operation")                                                              \
    X(SUBGROUPS, "several subgroups")                                                              \
    X(COPY, "async copy")                                                                          \
    X(PENDING, "copy over grid_sync")                                                              \
    X(COLLECTIVE, "collective")                                                                    \
    X(SWAP, "swap")                                                                                \
    X(INDIRECT, "indirect_dispatch")                                                               \
    X(PLANE, "two axes")                                                                           \
    X(SPACE, "three axes")                                                                         \
    X(FIXPOINT, "fixpoint")                                                                        \
    X(PASSES, "fixpoint, several passes")                                                          \
    X(CONVERGED, "fixpoint, converged")                                                            \
    X(BOOL, "bool buffer")                                                                         \
    X(EIGHT, "u8 or i8 buffer")                                                                    \
    X(SIXTEEN, "u16 or i16 buffer")                                                                \
    X(F16, "f16 buffer")                                                                           \
    X(BF16, "bf16 buffer")                                                                         \
    X(WIDE, "64-bit buffer")                                                                       \
    X(DISJOINT, "barrier removed: disjoint")                                                       \
    X(OWNED, "barrier removed: owned")                                                             \
    X(WEAKENED, "barrier weakened")                                                                \
    X(AHEAD, "launched ahead of a decision")

/* The kinds of the splitter in its order, then what is carried. */
#define DIFFER_CARRIES(X)                                                                          \
    X(RECOMPUTED, "recomputed")                                                                    \
    X(LANE, "stored per lane")                                                                     \
    X(GRID, "stored per grid")                                                                     \
    X(PRIVATE, "private array")                                                                    \
    X(WORKGROUP, "workgroup memory")                                                               \
    X(ENDED, "ended lanes")                                                                        \
    X(GROUP, "stored per group")                                                                   \
    X(WIDE, "64-bit value")                                                                        \
    X(BOOLS, "bool array")                                                                         \
    X(CHUNKED, "in several buffers")                                                               \
    X(BASE, "recomputed from a base")

enum {
#define X(NAME, text) DIFFER_##NAME,
    DIFFER_FEATURES(X)
#undef X
        DIFFER_FEATURE_COUNT
};
enum {
#define X(NAME, text) DIFFER_CARRY_##NAME,
    DIFFER_CARRIES(X)
#undef X
        DIFFER_CARRY_COUNT
};

typedef struct differ_facts {
    uint64_t features; /* bit DIFFER_* */
    uint32_t carries;  /* bit DIFFER_CARRY_* */
    bool changed;      /* the outputs differ from what they were before */
    uint32_t segments;
} differ_facts;

static inline void differ_note(differ_facts *f, uint32_t feature, bool is_there) {
    f->features |= (uint64_t)is_there << feature;
}

/* Forgets all and notes what the program's text tells. */
void differ_note_program(differ_facts *f, const vyre_program_view *p);
void differ_note_module(differ_facts *f, const vyre_module_view *m);

const char *differ_feature_name(uint32_t feature);
const char *differ_carry_name(uint32_t carry);

#endif
