/* Store or compute again: a minimum cut.
 *
 * Values depend on each other; some are wanted on the far side of a barrier. Each wanted value is
 * either stored on the near side or computed again from others that then must be available too. The
 * cheapest choice is a minimum cut: every way from a value that can't be computed again to a wanted
 * one must pass a stored value. */
#ifndef VYRE_SRC_SPLIT_CUT_H
#define VYRE_SRC_SPLIT_CUT_H

#include "base/alloc.h"

enum {
    /* Beyond this many values the search is not worth its time: everything wanted is stored. */
    VYRE_CUT_MOST = 2048
};

typedef struct vyre_cut_value {
    uint32_t store;     /* cost of storing it */
    uint32_t recompute; /* cost of computing it, operands apart; UINT32_MAX: can't be */
    bool wanted;
    uint32_t first_operand, operand_count; /* in the array of operands; smaller numbers */
} vyre_cut_value;

typedef enum vyre_cut_choice {
    VYRE_CUT_NOTHING, /* not needed on the far side */
    VYRE_CUT_STORE,
    VYRE_CUT_RECOMPUTE
} vyre_cut_choice;

/* Fills out_choice[count]. Costs are summed in 64 bits. VYRE_OUT_OF_MEMORY or VYRE_OK. */
vyre_status vyre_cut(const vyre_cut_value *values, uint32_t count, const uint32_t *operands,
                     const vyre_allocator *a, uint8_t *out_choice);

#endif
