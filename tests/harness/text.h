/* Text in tests. */
#ifndef VYRE_TESTS_HARNESS_TEXT_H
#define VYRE_TESTS_HARNESS_TEXT_H

#include "base/text.h"
#include "harness/test.h"

/* An empty text. */
vyre_text test_text(void);
/* A vyre_write_fn whose user is a vyre_text. */
bool test_text_append(void *user, const char *text, size_t length);

#endif
