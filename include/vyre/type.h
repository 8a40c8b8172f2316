/* Element types. The first seven compute; the others are only stored: a load widens them, a store
 * narrows. */
#ifndef VYRE_TYPE_H
#define VYRE_TYPE_H

#include "vyre/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vyre_type {
    VYRE_VOID = 0, /* no value; the result of a statement or function that gives none */
    VYRE_BOOL,     /* stored as a 32-bit word: nonzero loads as true, true stores 1 */
    VYRE_U32,
    VYRE_I32,
    VYRE_U64,
    VYRE_I64,
    VYRE_F32,
    VYRE_F64,
    VYRE_U8,  /* widens to u32, a store keeps the low bits */
    VYRE_I8,  /* widens to i32 */
    VYRE_U16, /* widens to u32 */
    VYRE_I16, /* widens to i32 */
    VYRE_F16, /* widens to f32, a store rounds to nearest even */
    VYRE_BF16,
    VYRE_TYPE_COUNT
} vyre_type;

/* "u32"; "void" for VYRE_VOID; "?" for values outside the enum. */
VYRE_API const char *vyre_type_name(vyre_type type);
/* The type spelled by text[0..length), or VYRE_VOID. */
VYRE_API vyre_type vyre_type_from_name(const char *text, size_t length);
/* Bytes of one stored element; 0 for VYRE_VOID. */
VYRE_API uint32_t vyre_type_size(vyre_type type);
/* The type that a load of such an element gives: itself, or u32 / i32 / f32 for stored-only ones.
 */
VYRE_API vyre_type vyre_type_widened(vyre_type type);

static inline bool vyre_type_computes(vyre_type type) {
    return type >= VYRE_BOOL && type <= VYRE_F64;
}
static inline bool vyre_type_is_float(vyre_type type) {
    return type == VYRE_F32 || type == VYRE_F64 || type == VYRE_F16 || type == VYRE_BF16;
}
static inline bool vyre_type_is_integer(vyre_type type) {
    return type > VYRE_BOOL && type < VYRE_TYPE_COUNT && !vyre_type_is_float(type);
}
static inline bool vyre_type_is_signed(vyre_type type) {
    return type == VYRE_I32 || type == VYRE_I64 || type == VYRE_I8 || type == VYRE_I16;
}

#ifdef __cplusplus
}
#endif

#endif
