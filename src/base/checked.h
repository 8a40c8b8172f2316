/* Arithmetic that reports overflow. All sizes in vyre are computed with these. Each returns false
 * on overflow and then leaves *out unspecified. */
#ifndef VYRE_SRC_BASE_CHECKED_H
#define VYRE_SRC_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool vyre_add_u64(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}
static inline bool vyre_mul_u64(uint64_t a, uint64_t b, uint64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool vyre_add_size(size_t a, size_t b, size_t *out) {
    return !__builtin_add_overflow(a, b, out);
}
static inline bool vyre_mul_size(size_t a, size_t b, size_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}
/* ceil(a / b); b must not be 0. */
static inline uint64_t vyre_ceil_div(uint64_t a, uint64_t b) {
    return a / b + (a % b != 0);
}

#endif
