/* Which elements an index goes over, all lanes of a group and all trips of loops taken together. */
#ifndef VYRE_SRC_SPLIT_COVER_H
#define VYRE_SRC_SPLIT_COVER_H

#include "vyre/ir.h"

enum { VYRE_COVER_AXES = 3, VYRE_COVER_LOOPS = 2, VYRE_COVER_TERMS = 5 };

/* A number that takes all values from 0 to range - 1: the local id along an axis, or the variable
 * of a loop. */
typedef struct vyre_cover_term {
    uint64_t range;
    uint32_t axes; /* bits of the axes by which lanes share the values; 0: each lane has them all */
    vyre_var var;  /* of a loop; else VYRE_NONE */
} vyre_cover_term;

typedef struct vyre_cover {
    const vyre_program_view *p;
    const vyre_expr *value_of;               /* per variable: what it is, or VYRE_NONE */
    vyre_cover_term terms[VYRE_COVER_TERMS]; /* axes, then loops from the outermost */
    uint32_t loops;
} vyre_cover;

void vyre_cover_init(vyre_cover *cover, const vyre_program_view *program,
                     const vyre_expr *value_of);
/* Whether the expression is a number, and which. */
bool vyre_cover_constant(const vyre_cover *cover, vyre_expr expr, uint64_t *out_value);
/* The same of an index, which may have several dimensions. */
bool vyre_cover_element(const vyre_cover *cover, vyre_expr index, uint64_t *out_value);
/* Makes the variable of a FOR a term, inside of those that are; false: that can't be. */
bool vyre_cover_enter(vyre_cover *cover, vyre_stmt loop);

/* Whether the index takes each value from 0 to count - 1: in each lane, or in those of a group. */
bool vyre_cover_by_lane(const vyre_cover *cover, vyre_expr index, uint64_t count);
bool vyre_cover_by_group(const vyre_cover *cover, vyre_expr index, uint64_t count);
/* Whether two indices are the same sum of terms. */
bool vyre_cover_is_same(const vyre_cover *cover, vyre_expr x, vyre_expr y);

#endif
