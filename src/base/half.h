/* f16 and bf16 as bit patterns. Narrowing rounds to nearest even; NaNs become the canonical one. */
#ifndef VYRE_SRC_BASE_HALF_H
#define VYRE_SRC_BASE_HALF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t vyre_f32_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float vyre_f32_from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint16_t vyre_bf16_from_f32(float x) {
    uint32_t bits = vyre_f32_bits(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return 0x7fc0;
    }
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}
static inline float vyre_bf16_to_f32(uint16_t bits) {
    return vyre_f32_from_bits((uint32_t)bits << 16);
}

static inline uint16_t vyre_f16_from_f32(float x) {
    uint32_t bits = vyre_f32_bits(x), magnitude = bits & 0x7fffffffu;
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    if (magnitude > 0x7f800000u) {
        return 0x7e00;
    }
    if (magnitude >= 0x477ff000u) { /* 65520 and more round to infinity */
        return (uint16_t)(sign | 0x7c00u);
    }
    if (magnitude <
        0x38800000u) { /* below 2^-14: adding 0.5 leaves the rounded multiple of 2^-24 */
        float shifted = vyre_f32_from_bits(magnitude) + 0.5f;
        return (uint16_t)(sign | (vyre_f32_bits(shifted) - 0x3f000000u));
    }
    uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1) - (112u << 23);
    return (uint16_t)(sign | rounded >> 13);
}
static inline float vyre_f16_to_f32(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, rest = bits & 0x7fffu;
    if (rest >= 0x7c00u) {
        return vyre_f32_from_bits(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    }
    if (rest < 0x400u) { /* subnormal: a multiple of 2^-24 */
        float value = (float)rest * 0x1p-24f;
        return sign ? -value : value;
    }
    return vyre_f32_from_bits(sign | ((rest << 13) + (112u << 23)));
}

/* From a double, rounded once. The f32 on the way is cut, not rounded, and its last bit set if
 * anything was cut off: it has bits enough to spare that the second step rounds as the double
 * would. */
static inline float vyre_f32_sticky(double x) {
    float near = (float)x;
    if ((double)near == x || x != x) {
        return near;
    }
    uint32_t bits = vyre_f32_bits(near);
    bool beyond = x < 0 ? (double)near < x : (double)near > x;
    return vyre_f32_from_bits((bits - beyond) | 1);
}
static inline uint16_t vyre_bf16_from_f64(double x) {
    return vyre_bf16_from_f32(vyre_f32_sticky(x));
}
static inline uint16_t vyre_f16_from_f64(double x) {
    return vyre_f16_from_f32(vyre_f32_sticky(x));
}

#endif
