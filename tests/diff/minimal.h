/* A device that has only what no lowering replaces. */
#ifndef VYRE_TESTS_DIFF_MINIMAL_H
#define VYRE_TESTS_DIFF_MINIMAL_H

#include "vyre/backend.h"

/* Adds "ref-minimal" (segments) to a registry. */
vyre_status minimal_add(vyre_registry *registry, vyre_diag *diag);

#endif
