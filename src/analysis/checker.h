/* What the files of the validator share. Reports are collected, put in order of place at the end,
 * and only then handed to the caller. */
#ifndef VYRE_SRC_ANALYSIS_CHECKER_H
#define VYRE_SRC_ANALYSIS_CHECKER_H

#include "base/alloc.h"
#include "base/intern.h"
#include "vyre/check.h"

typedef struct vyre_checker {
    vyre_allocator allocator;
    const vyre_program *program;
    const vyre_program_view *p;
    bool failed; /* out of memory */

    VYRE_VEC(vyre_diag) reports;
    uint32_t errors, warnings; /* reported, stored or not */
    bool dropped;              /* the last error or warning was not stored */

    /* What is wrong was reported once; users of it stay silent. */
    bool *bad_expr;   /* per expression */
    bool *bad_var;    /* per variable */
    bool *bad_decl;   /* per declaration */
    uint16_t *height; /* per expression */

    /* Constants, where known; per declaration. */
    bool *known;
    uint64_t *value;  /* memory: its size; const: the bits of its value */
    uint32_t *weight; /* const: expressions with all consts expanded; saturates */

    vyre_intern names;
    VYRE_VEC(bool) visible; /* per name */
    bool *in_scope;         /* per variable */
} vyre_checker;

void vyre_checker_error(vyre_checker *c, const char *code, vyre_place place, const char *fix,
                        const char *format, ...) VYRE_PRINTF(5, 6);
void vyre_checker_warn(vyre_checker *c, const char *code, vyre_place place, const char *fix,
                       const char *format, ...) VYRE_PRINTF(5, 6);
/* Belongs to the error or warning before it. */
void vyre_checker_note(vyre_checker *c, vyre_place place, const char *format, ...)
    VYRE_PRINTF(3, 4);

/* Hands the reports over in order of place, notes behind their parents. */
void vyre_checker_hand_over(vyre_checker *c, vyre_diag_list *to);

/* Number of the name; grows `visible`. VYRE_NONE when out of memory. */
uint32_t vyre_checker_name(vyre_checker *c, const char *name);

/* check_decls.c: names, sizes, consts, params, clauses. */
void vyre_check_decls(vyre_checker *c);
/* The value of an integer expression of literals and consts. */
bool vyre_checker_constant(const vyre_checker *c, vyre_expr root, int64_t *out);

/* check_types.c: the expressions [first, end), operands before users. */
void vyre_check_exprs(vyre_checker *c, vyre_expr first, vyre_expr end);
/* Reports `code` unless the expression has the type or is bad already. `what` begins a sentence:
 * "the index". */
void vyre_check_type(vyre_checker *c, vyre_expr expr, vyre_type type, const char *code,
                     const char *what);
/* V036. */
void vyre_check_index(vyre_checker *c, vyre_decl decl, vyre_expr index);

/* check_stmts.c: all bodies. */
void vyre_check_bodies(vyre_checker *c);
/* check_access.c: what single statements do with memory, functions and lanes. */
void vyre_check_store(vyre_checker *c, vyre_stmt at);
void vyre_check_atomic(vyre_checker *c, vyre_stmt at);
void vyre_check_subgroup(vyre_checker *c, vyre_stmt at);
void vyre_check_reduction(vyre_checker *c, vyre_stmt at);
void vyre_check_call(vyre_checker *c, vyre_stmt at);
void vyre_check_async(vyre_checker *c, vyre_stmt at);
void vyre_check_collective(vyre_checker *c, vyre_stmt at);
void vyre_check_swap(vyre_checker *c, vyre_stmt at);
void vyre_check_indirect(vyre_checker *c, vyre_stmt at);

/* check_flow.c: call graph, opaque functions, uniformity; only for programs without errors. */
void vyre_check_calls(vyre_checker *c);

static inline vyre_place vyre_checker_at(const vyre_checker *c, vyre_stmt stmt) {
    return vyre_program_stmt_place(c->program, stmt);
}

#endif
