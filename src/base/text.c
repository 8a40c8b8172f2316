/* Growing text: capacity doubles, one byte is always kept for the final NUL. */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/diag.h"

enum { FIRST_CAPACITY = 256 };

void vyre_text_init(vyre_text *text, const vyre_allocator *allocator) {
    *text = (vyre_text){.allocator = vyre_allocator_or_system(allocator)};
}

void vyre_text_finish(vyre_text *text) {
    vyre_free(&text->allocator, text->data, text->capacity, 1);
    *text = (vyre_text){.allocator = text->allocator};
}

void vyre_text_reset(vyre_text *text) {
    text->length = 0;
    text->failed = false;
    if (text->data) {
        text->data[0] = '\0';
    }
}

/* Room for `extra` bytes and the NUL. */
static bool reserve(vyre_text *text, size_t extra) {
    size_t need;
    if (text->failed || !vyre_add_size(text->length, extra, &need) || need > SIZE_MAX / 4) {
        text->failed = true;
        return false;
    }
    if (need < text->capacity) {
        return true;
    }
    size_t capacity = text->capacity ? text->capacity : FIRST_CAPACITY;
    while (capacity <= need) {
        capacity *= 2;
    }
    char *data = text->allocator.resize(text->allocator.user, text->data, text->capacity, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void vyre_text_append(vyre_text *text, const char *bytes, size_t length) {
    if (reserve(text, length)) {
        if (length) {
            memcpy(text->data + text->length, bytes, length);
        }
        text->length += length;
        text->data[text->length] = '\0';
    }
}

void vyre_text_puts(vyre_text *text, const char *string) {
    vyre_text_append(text, string, strlen(string));
}

void vyre_text_fill(vyre_text *text, char c, size_t count) {
    if (reserve(text, count)) {
        memset(text->data + text->length, c, count);
        text->length += count;
        text->data[text->length] = '\0';
    }
}

void vyre_text_vprintf(vyre_text *text, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    size_t room = text->capacity - text->length;
    int length = vsnprintf(room ? text->data + text->length : NULL, room, format, args);
    if (length < 0) {
        text->failed = true;
    } else if ((size_t)length < room) {
        text->length += (size_t)length;
    } else if (reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    } else if (room) {
        text->data[text->length] = '\0';
    }
    va_end(again);
}

void vyre_text_printf(vyre_text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vyre_text_vprintf(text, format, args);
    va_end(args);
}

const char *vyre_text_string(const vyre_text *text) {
    return text->data ? text->data : "";
}

vyre_status vyre_text_status(const vyre_text *text, const char *what, vyre_diag *diag) {
    return text->failed ? vyre_fail_memory(diag, what) : VYRE_OK;
}
