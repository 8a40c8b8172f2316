/* What a proof of uniformity rests on and only a dispatch can tell: that a product does not wrap.
 *
 * Lanes make as many trips of a FOR wherever they start if its end is u * S that does not wrap, S
 * being the step (shape_trips.c). Where nothing else proves that a barrier in the loop may stand,
 * and u is made of params, lengths and sizes of the grid, that is a condition. The check names it,
 * a dispatch refuses where it does not hold, and so does emitted code. */
#ifndef VYRE_SRC_ANALYSIS_CONDITIONS_H
#define VYRE_SRC_ANALYSIS_CONDITIONS_H

#include "analysis/effects.h"
#include "base/alloc.h"

typedef struct vyre_shapes vyre_shapes;

/* factor * what is there at a dispatch. */
typedef struct vyre_number_part {
    uint32_t factor;
    vyre_expr_op op; /* REF: a param; LEN; BUILTIN: global_size or num_groups */
    uint32_t ref;    /* declaration; vyre_builtin */
    uint32_t axis;
} vyre_number_part;

/* constant + the sum of the parts, modulo 2^32. */
enum { VYRE_NUMBER_PARTS = 4 };
typedef struct vyre_number {
    uint32_t constant, count;
    vyre_number_part parts[VYRE_NUMBER_PARTS];
} vyre_number;

/* x * y is below 2^32. */
enum { VYRE_CONDITION_TEXT = 200 };
typedef struct vyre_condition {
    vyre_stmt loop; /* a FOR of the program */
    vyre_number x, y;
    char text[VYRE_CONDITION_TEXT]; /* of the product: "rounds * global_size.x" */
} vyre_condition;

typedef VYRE_VEC(vyre_condition) vyre_condition_list;

/* As vyre_shapes_create, under the conditions that barriers of the program need; without those if
 * they need none. */
vyre_status vyre_shapes_create_given(const vyre_program *program, const vyre_effect_map *effects,
                                     const vyre_allocator *allocator, vyre_shapes **out_shapes);
/* Appends the conditions that the shapes rest on, one for each loop. */
vyre_status vyre_shapes_conditions(vyre_shapes *shapes, const vyre_allocator *a,
                                   vyre_condition_list *out);
/* Those of a valid program. */
vyre_status vyre_conditions_find(const vyre_program *program, const vyre_allocator *a,
                                 vyre_condition_list *out);

/* What a dispatch knows; by declaration, and by axis. */
typedef struct vyre_condition_numbers {
    const uint32_t *counts;
    const uint64_t *values;
    const uint32_t *workgroup, *grid;
} vyre_condition_numbers;
/* The product, over the integers. */
uint64_t vyre_condition_product(const vyre_condition *condition,
                                const vyre_condition_numbers *numbers);

#endif
