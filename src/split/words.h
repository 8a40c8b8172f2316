/* A value as one or two words of 32 bits, and back; in segments and in the control program. */
#ifndef VYRE_SRC_SPLIT_WORDS_H
#define VYRE_SRC_SPLIT_WORDS_H

#include "vyre/ir.h"

vyre_expr vyre_words_encode(vyre_builder *b, vyre_type type, vyre_expr value, uint32_t word);
vyre_expr vyre_words_decode(vyre_builder *b, vyre_type type, vyre_expr low, vyre_expr high);

#endif
