/* Values of the reference backend and how they change type.
 *
 * A value of a computing type is held in 64 bits: integers and floats as their own bits,
 * zero-extended; bool as 0 or 1. */
#ifndef VYRE_SRC_BACKEND_REF_CONVERT_H
#define VYRE_SRC_BACKEND_REF_CONVERT_H

#include <string.h>

#include "vyre/type.h"

static inline float vyre_ref_f32(uint64_t bits) {
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}
static inline double vyre_ref_f64(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint64_t vyre_ref_from_f32(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}
static inline uint64_t vyre_ref_from_f64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* An integer or bool value in 64-bit two's complement: zero- or sign-extended from its width. */
static inline uint64_t vyre_ref_extend(vyre_type type, uint64_t bits) {
    return type == VYRE_I32 ? (uint64_t)(int64_t)(int32_t)(uint32_t)bits : bits;
}

/* Converts between computing types; `to` may be a stored-only type, whose value is then held in its
 * widened type. Everything rounds at most once, to nearest even. */
uint64_t vyre_ref_cast(vyre_type from, vyre_type to, uint64_t bits);

/* The value of one stored element, and back. `bits` is of the widened type. */
uint64_t vyre_ref_load(vyre_type type, const uint8_t *element);
void vyre_ref_store(vyre_type type, uint8_t *element, uint64_t bits);

#endif
