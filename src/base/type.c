/* The table of element types. */
#include "vyre/type.h"

#include <string.h>

static const struct {
    const char *name;
    uint8_t size;
    uint8_t widened;
} types[VYRE_TYPE_COUNT] = {
    [VYRE_VOID] = {"void", 0, VYRE_VOID}, [VYRE_BOOL] = {"bool", 4, VYRE_BOOL},
    [VYRE_U32] = {"u32", 4, VYRE_U32},    [VYRE_I32] = {"i32", 4, VYRE_I32},
    [VYRE_U64] = {"u64", 8, VYRE_U64},    [VYRE_I64] = {"i64", 8, VYRE_I64},
    [VYRE_F32] = {"f32", 4, VYRE_F32},    [VYRE_F64] = {"f64", 8, VYRE_F64},
    [VYRE_U8] = {"u8", 1, VYRE_U32},      [VYRE_I8] = {"i8", 1, VYRE_I32},
    [VYRE_U16] = {"u16", 2, VYRE_U32},    [VYRE_I16] = {"i16", 2, VYRE_I32},
    [VYRE_F16] = {"f16", 2, VYRE_F32},    [VYRE_BF16] = {"bf16", 2, VYRE_F32},
};

const char *vyre_type_name(vyre_type type) {
    return (unsigned)type < VYRE_TYPE_COUNT ? types[type].name : "?";
}

vyre_type vyre_type_from_name(const char *text, size_t length) {
    for (int t = VYRE_BOOL; t < VYRE_TYPE_COUNT; t++) {
        if (strlen(types[t].name) == length && memcmp(types[t].name, text, length) == 0) {
            return (vyre_type)t;
        }
    }
    return VYRE_VOID;
}

uint32_t vyre_type_size(vyre_type type) {
    return (unsigned)type < VYRE_TYPE_COUNT ? types[type].size : 0;
}

vyre_type vyre_type_widened(vyre_type type) {
    return (unsigned)type < VYRE_TYPE_COUNT ? (vyre_type)types[type].widened : VYRE_VOID;
}
