/* Names of status codes, and the version. */
#include "vyre/base.h"

const char *vyre_status_name(vyre_status status) {
    static const char *const names[] = {
        [VYRE_OK] = "ok",
        [VYRE_OUT_OF_MEMORY] = "out of memory",
        [VYRE_INVALID_ARGUMENT] = "invalid argument",
        [VYRE_INVALID_PROGRAM] = "invalid program",
        [VYRE_INVALID_INPUT] = "invalid input",
        [VYRE_IO] = "input/output error",
        [VYRE_UNSUPPORTED] = "not supported",
        [VYRE_NOT_FOUND] = "not found",
        [VYRE_LIMIT] = "limit exceeded",
        [VYRE_TRAP] = "trap",
        [VYRE_STEP_BUDGET] = "step budget used up",
        [VYRE_TIMEOUT] = "timeout",
        [VYRE_CANCELLED] = "cancelled",
        [VYRE_DEVICE_LOST] = "device lost",
        [VYRE_CHECK_FAILED] = "check failed",
        [VYRE_INTERNAL] = "internal error",
        [VYRE_DEVICE_FAILED] = "device failed",
    };
    size_t count = sizeof names / sizeof names[0];
    return (size_t)status < count ? names[status] : "unknown status";
}

const char *vyre_version(void) {
    return VYRE_VERSION_STRING;
}
