/* A growing text: printf-append into memory of the caller's allocator. The first failed allocation
 * sticks: later appends do nothing, so a writer checks once, at the end, with vyre_text_status. */
#ifndef VYRE_SRC_BASE_TEXT_H
#define VYRE_SRC_BASE_TEXT_H

#include <stdarg.h>

#include "vyre/base.h"

typedef struct vyre_text {
    vyre_allocator allocator;
    char *data; /* NUL-terminated once something was appended, NULL before */
    size_t length;
    size_t capacity;
    bool failed;
} vyre_text;

/* `allocator` may be NULL: the system allocator. */
void vyre_text_init(vyre_text *text, const vyre_allocator *allocator);
void vyre_text_finish(vyre_text *text);
/* Forgets the contents and a failure, keeps the memory. */
void vyre_text_reset(vyre_text *text);
void vyre_text_append(vyre_text *text, const char *bytes, size_t length);
void vyre_text_puts(vyre_text *text, const char *string);
/* `count` times the byte c. */
void vyre_text_fill(vyre_text *text, char c, size_t count);
void vyre_text_printf(vyre_text *text, const char *format, ...) VYRE_PRINTF(2, 3);
void vyre_text_vprintf(vyre_text *text, const char *format, va_list args) VYRE_PRINTF(2, 0);
/* The contents, never NULL; "" when nothing was appended. */
const char *vyre_text_string(const vyre_text *text);
/* VYRE_OK, or VYRE_OUT_OF_MEMORY when an append failed; `what` names the text in the message. */
vyre_status vyre_text_status(const vyre_text *text, const char *what, vyre_diag *diag);

#endif
