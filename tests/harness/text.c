/* A text to write to. */
#include "harness/text.h"

vyre_text test_text(void) {
    vyre_text text;
    vyre_text_init(&text, NULL);
    return text;
}

bool test_text_append(void *user, const char *text, size_t length) {
    vyre_text_append(user, text, length);
    return true;
}
