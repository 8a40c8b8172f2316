/* "ref-groups": the reference interpreter as a device without barriers of any kind. */
#ifndef VYRE_TESTS_DIFF_GROUPS_H
#define VYRE_TESTS_DIFF_GROUPS_H

#include "vyre/backend.h"

/* The built-in backends and "ref-groups". The runtime splits a program at its grid barriers; this
 * device splits each segment again, at its workgroup barriers, and runs group after group, piece by
 * piece. NULL: out of memory. */
vyre_registry *groups_registry(void);

#endif
