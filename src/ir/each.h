/* The frame of rewrites that replace some statements of a program without calls and keep the rest.
 */
#ifndef VYRE_SRC_IR_EACH_H
#define VYRE_SRC_IR_EACH_H

#include "ir/rewrite.h"
#include "ir/unique.h"

typedef struct vyre_each {
    vyre_rewriter rw;
    vyre_unique names; /* all names of the source are taken */
    void *user;
} vyre_each;

/* (optional) Called for each statement of the entry body in order: true if it has been dealt with,
 * false to copy it. Errors of the builder are kept by it. */
typedef bool (*vyre_each_fn)(vyre_each *each, vyre_stmt stmt);
/* (optional) Called once after the declarations were copied. */
typedef void (*vyre_each_begin_fn)(vyre_each *each);

vyre_status vyre_each_rewrite(const vyre_program *program, vyre_each_begin_fn begin,
                              vyre_each_fn replace, void *user, const vyre_allocator *a,
                              vyre_program **out_program, vyre_diag *diag);

/* A fresh name made from `base`; on failure the builder fails too, and "x" is returned. */
const char *vyre_each_name(vyre_each *each, const char *base);

#endif
