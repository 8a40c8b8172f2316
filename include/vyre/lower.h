/* Lowering: a program in the operations that a device has. Needs no device.
 *
 * What is left holds no operation that the device did not claim, and gives the same bytes as the
 * program it was made from. Each pass replaces one kind of thing, and only where it must: a device
 * that claims everything gets the program as it is. Declarations keep their numbers; those that
 * lowering adds stand behind them. */
#ifndef VYRE_LOWER_H
#define VYRE_LOWER_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a device can do with programs. Start from vyre_capabilities_all. */
typedef struct vyre_capabilities {
    uint64_t exprs[2]; /* bit vyre_expr_op */
    uint64_t stmts;    /* bit vyre_stmt_op; CALL: functions, ASYNC_*: copies, TRAP: it tells of
                          the lowest lane itself */
    uint32_t types;    /* bit vyre_type: as element of memory, and as value if it computes */
    /* By type of the element: bit vyre_atomic_op. */
    uint32_t buffer_atomics[VYRE_TYPE_COUNT], workgroup_atomics[VYRE_TYPE_COUNT];
    uint32_t subgroups; /* bit vyre_subgroup_op: over 32 lanes, floats in the order of the language,
                           lanes that have ended absent */
    uint32_t builtins;  /* bit vyre_builtin */
    bool lanes_may_end; /* before a barrier that others of the group reach */
    bool zeroes_workgroup; /* workgroup memory is zero when a group begins */
    bool checks_bounds;    /* a load outside of memory gives 0, a store or atomic there does
                              nothing; else programs test what is not proven to be inside, and
                              element 0 of memory without elements may be loaded */
} vyre_capabilities;

/* Everything. */
VYRE_API vyre_capabilities vyre_capabilities_all(void);
/* By name, for people: "all", "minimal" (the core that no lowering replaces), "cpu", "opencl"; or a
 * list of what is missing, separated by commas: spellings of ops.def (`sin`, `barrier`,
 * `subgroup_add`, `atomic_min`), types, groups of these (`elementary`, `async`, `calls`,
 * `subgroups`, `groups`, `float_atomics`, `u64_atomics`, `traps`), `ended_lanes`,
 * `zeroed_workgroup`, `bounds`. A list may begin with a name. VYRE_NOT_FOUND: a word means nothing.
 */
VYRE_API vyre_status vyre_capabilities_named(const char *text, vyre_capabilities *out_capabilities,
                                             vyre_diag *diag);

/* The names of what a device can do, one by one, in the spelling of programs: operators and
 * functions, statements, atomics (that buffers have on u32), subgroup operations, ids and types. */
typedef void (*vyre_name_fn)(void *user, const char *name);
VYRE_API void vyre_capabilities_tell(const vyre_capabilities *capabilities, vyre_name_fn tell,
                                     void *user);

/* Lowers a valid program. The result counts one reference; it is the program itself, retained, if
 * there is nothing to do. VYRE_UNSUPPORTED: it needs something that the device does not have and
 * that no pass replaces; diag names it and its place. */
VYRE_API vyre_status vyre_lower(const vyre_program *program, const vyre_capabilities *capabilities,
                                const vyre_allocator *allocator, vyre_program **out_program,
                                vyre_diag *diag);

/* Traps of a lowered program, on a device that does not tell of them itself: a lane that traps
 * records itself in a buffer and ends. Whoever launches the program gives it that buffer, all
 * zeros, and looks at it afterwards. */

/* The buffer, among the declarations that lowering added behind the first `source_decls`;
 * VYRE_NONE: nobody traps, or the device tells of it. */
VYRE_API vyre_decl vyre_traps_of(const vyre_program *lowered, uint32_t source_decls);
/* How many u32 it must have. If its first word is 0 after a launch, no lane has trapped. */
VYRE_API uint64_t vyre_trap_words(const vyre_program *lowered, vyre_decl traps,
                                  const uint32_t grid[3]);

typedef struct vyre_trap_record {
    uint64_t lane; /* the lowest that trapped */
    uint32_t address;
    const char *tag; /* lives as long as the program */
    vyre_place place;
} vyre_trap_record;

/* Reads the words; false if no lane has trapped. */
VYRE_API bool vyre_trap_find(const vyre_program *lowered, vyre_decl traps, const uint32_t *words,
                             uint64_t count, vyre_trap_record *out_record);

#ifdef __cplusplus
}
#endif

#endif
