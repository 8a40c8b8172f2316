/* What the files of vyre_lint share. */
#ifndef VYRE_SRC_ANALYSIS_LINT_H
#define VYRE_SRC_ANALYSIS_LINT_H

#include "analysis/checker.h"
#include "analysis/shape.h"

typedef struct vyre_linter {
    vyre_checker c; /* for its reports */
    const vyre_program_view *p;
    vyre_shaped facts;
    bool *used;      /* per variable */
    bool *known;     /* per expression: made of literals alone */
    uint64_t *bits;  /* its value */
    bool *told;      /* per statement: its race was reported */
    bool lanes_end;  /* some statement ends lanes */
    uint32_t widest; /* expressions of the largest statement */
} vyre_linter;

static inline vyre_place vyre_linter_at(const vyre_linter *l, vyre_expr e) {
    return vyre_program_expr_place(l->c.program, e);
}

/* lint_bounds.c: accesses that are always outside of their memory. */
void vyre_lint_bounds(vyre_linter *l);
/* lint_speed.c: what would be faster in other words; behind all else. */
void vyre_lint_speed(vyre_linter *l);

#endif
