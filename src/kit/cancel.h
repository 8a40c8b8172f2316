/* Whether a dispatch has been cancelled. */
#ifndef VYRE_SRC_KIT_CANCEL_H
#define VYRE_SRC_KIT_CANCEL_H

#include "vyre/dispatch.h"

/* Has somebody set it? NULL: nobody can. */
static inline bool vyre_cancel_is_requested(const vyre_cancel *cancel) {
    return cancel && __atomic_load_n(&cancel->requested, __ATOMIC_RELAXED) != 0;
}

#endif
