/* UTF-8, strictly: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef VYRE_SRC_BASE_UTF8_H
#define VYRE_SRC_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the character at text[0..length), 0 when it is not valid (or length is 0). */
static inline size_t vyre_utf8_length(const char *text, size_t length) {
    const unsigned char *s = (const unsigned char *)text;
    if (length == 0) {
        return 0;
    }
    if (s[0] < 0x80) {
        return 1;
    }
    size_t need = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || need > length) {
        return 0;
    }
    /* The second byte carries the limits against overlong forms, surrogates and the top. */
    unsigned char low = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;
    if (s[1] < low || s[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < need; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return need;
}

#endif
