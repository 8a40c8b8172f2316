/* Parts of the earlier system that are not part of this one. */
#ifndef VYRE_SRC_TEXT_UNSUPPORTED_H
#define VYRE_SRC_TEXT_UNSUPPORTED_H

/* What to write instead of a type, statement or function that programs of the earlier system may
 * have; NULL: it has no such word. */
const char *vyre_unsupported_type(const char *word);
const char *vyre_unsupported_operation(const char *word);

#endif
