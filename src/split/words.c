/* Values of two words have the low one first. */
#include "split/words.h"

static vyre_expr shift(vyre_builder *b, vyre_expr_op op, vyre_expr value) {
    return vyre_build_op(b, op, value, vyre_build_u32(b, 32), VYRE_NONE);
}

vyre_expr vyre_words_encode(vyre_builder *b, vyre_type type, vyre_expr value, uint32_t word) {
    if (vyre_type_size(type) == 8) {
        vyre_expr bits = type == VYRE_U64 ? value : vyre_build_bitcast(b, VYRE_U64, value);
        return vyre_build_cast(b, VYRE_U32, word ? shift(b, VYRE_EXPR_SHR, bits) : bits);
    }
    return type == VYRE_U32    ? value
           : type == VYRE_BOOL ? vyre_build_cast(b, VYRE_U32, value)
                               : vyre_build_bitcast(b, VYRE_U32, value);
}

vyre_expr vyre_words_decode(vyre_builder *b, vyre_type type, vyre_expr low, vyre_expr high) {
    if (vyre_type_size(type) == 8) {
        vyre_expr upper = shift(b, VYRE_EXPR_SHL, vyre_build_cast(b, VYRE_U64, high));
        vyre_expr bits =
            vyre_build_op(b, VYRE_EXPR_BIT_OR, vyre_build_cast(b, VYRE_U64, low), upper, VYRE_NONE);
        return type == VYRE_U64 ? bits : vyre_build_bitcast(b, type, bits);
    }
    return type == VYRE_U32    ? low
           : type == VYRE_BOOL ? vyre_build_cast(b, VYRE_BOOL, low)
                               : vyre_build_bitcast(b, type, low);
}
