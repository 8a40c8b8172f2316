/* All of the public API. */
#ifndef VYRE_VYRE_H
#define VYRE_VYRE_H

#include "vyre/backend.h"
#include "vyre/base.h"
#include "vyre/check.h"
#include "vyre/device.h"
#include "vyre/dispatch.h"
#include "vyre/emit.h"
#include "vyre/fuse.h"
#include "vyre/ir.h"
#include "vyre/limits.h"
#include "vyre/lower.h"
#include "vyre/plan.h"
#include "vyre/race.h"
#include "vyre/split.h"
#include "vyre/telemetry.h"
#include "vyre/text.h"
#include "vyre/type.h"

#endif
