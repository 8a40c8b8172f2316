/* Decimal numbers in text, correctly rounded, whatever the locale. */
#ifndef VYRE_SRC_IO_DECIMAL_H
#define VYRE_SRC_IO_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* text[0..length) is nothing but digits and fits. */
bool vyre_decimal_u64(const char *text, size_t length, uint64_t *out);
/* With an optional sign. */
bool vyre_decimal_i64(const char *text, size_t length, int64_t *out);

/* Sign, digits, point, exponent; at least one digit; nothing else. The byte behind the number must
 * be readable and not continue it. False when malformed or beyond the largest finite value. */
bool vyre_decimal_f64(const char *text, size_t length, double *out);
bool vyre_decimal_f32(const char *text, size_t length, float *out);

#endif
