/* Running the instructions of a control program (split/control_code.h). */
#ifndef VYRE_SRC_KIT_EVALUATE_H
#define VYRE_SRC_KIT_EVALUATE_H

#include "vyre/schedule.h"

/* Instructions [begin, end) of the module, on the words of the position; the reader may be NULL if
 * they load nothing. Fails only if reading does, and then changes no scalar further. */
vyre_status vyre_evaluate(const vyre_position *at, const vyre_module_launch *pass,
                          const vyre_reader *reader, uint32_t begin, uint32_t end, vyre_diag *diag);

#endif
