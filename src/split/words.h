/* A value between launches. Memory for such values is words of 32 bits. One of 64 bits is two of
 * them, low one first, that begin at an even word; segments have a declaration of its own type for
 * the same memory, in which it is one element. */
#ifndef VYRE_SRC_SPLIT_WORDS_H
#define VYRE_SRC_SPLIT_WORDS_H

#include "vyre/ir.h"

/* The declarations that one memory may have in a segment. No word is an element of two of them in
 * one launch, so that nobody has to know that they are the same memory. */
typedef enum vyre_view {
    VYRE_VIEW_WORDS, /* u32: values of all types of at most 32 bits */
    VYRE_VIEW_U64,
    VYRE_VIEW_I64,
    VYRE_VIEW_F64,
    VYRE_VIEWS
} vyre_view;

static inline vyre_view vyre_view_of(vyre_type type) {
    return type == VYRE_U64   ? VYRE_VIEW_U64
           : type == VYRE_I64 ? VYRE_VIEW_I64
           : type == VYRE_F64 ? VYRE_VIEW_F64
                              : VYRE_VIEW_WORDS;
}
static inline vyre_type vyre_view_type(vyre_view view) {
    static const uint8_t types[VYRE_VIEWS] = {VYRE_U32, VYRE_U64, VYRE_I64, VYRE_F64};
    return (vyre_type)types[view];
}

/* As words, and back: where there is no such declaration (the control program, memory whose words
 * lie in buffers of one word each). */
vyre_expr vyre_words_encode(vyre_builder *b, vyre_type type, vyre_expr value, uint32_t word);
vyre_expr vyre_words_decode(vyre_builder *b, vyre_type type, vyre_expr low, vyre_expr high);

#endif
