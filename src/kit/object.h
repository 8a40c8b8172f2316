/* Compiled code in memory: an x86-64 ELF relocatable object, as a compiler writes it, made ready to
 * be called. The object must be complete in itself: whatever it needs of the process comes through
 * the arguments of its functions. */
#ifndef VYRE_SRC_KIT_OBJECT_H
#define VYRE_SRC_KIT_OBJECT_H

#include "vyre/base.h"

typedef struct vyre_object vyre_object;
/* Any function of an object; cast it to what it is. */
typedef void (*vyre_object_function)(void);

/* Loads the object of `size` bytes at `bytes`, which is not needed any more afterwards. No page is
 * ever writable and executable at once. `allocator` (NULL: the system's) serves the tables; the
 * code lies in pages of its own. From any thread; a child after fork() has its own copy.
 *   VYRE_INVALID_INPUT  no object, or a damaged one
 *   VYRE_UNSUPPORTED    it needs a symbol that it does not have (the message names it), is for
 *                       another machine, or is of a kind that compilers of segments don't write:
 *                       thread-local data, constructors, common symbols, ...
 *   VYRE_LIMIT          more than VYRE_OBJECT_MOST_BYTES in memory
 *   VYRE_OUT_OF_MEMORY  also when the system refuses executable pages; diag->native is its errno */
vyre_status vyre_object_load(const void *bytes, size_t size, const vyre_allocator *allocator,
                             vyre_object **out_object, vyre_diag *diag);
/* NULL is fine. Nobody may be inside of one of its functions, or call one later. */
void vyre_object_destroy(vyre_object *object);

/* A function that others may see (not static) by its name; NULL: there is none. Any thread. */
vyre_object_function vyre_object_find(const vyre_object *object, const char *name);
/* What it takes in memory: whole pages. */
size_t vyre_object_size(const vyre_object *object);

enum { VYRE_OBJECT_MOST_BYTES = 1 << 30 };

#endif
