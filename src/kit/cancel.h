/* Whether a dispatch has been cancelled. */
#ifndef VYRE_SRC_KIT_CANCEL_H
#define VYRE_SRC_KIT_CANCEL_H

#include "vyre/dispatch.h"

/* Has somebody set it? NULL: nobody can. */
bool vyre_cancel_is_requested(const vyre_cancel *cancel);

#endif
