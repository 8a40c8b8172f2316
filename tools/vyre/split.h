/* vyre split: what its parts share. */
#ifndef VYRE_TOOLS_SPLIT_H
#define VYRE_TOOLS_SPLIT_H

#include "base/alloc.h"
#include "base/diag.h"
#include "cli.h"
#include "vyre/vyre.h"

/* What a backend decided, in the order in which it did. */
typedef struct split_decisions {
    VYRE_VEC(vyre_decision) list;
    bool failed;
} split_decisions;

/* Splits the program as the backend would have it. */
vyre_status split_decide(const char *backend, const vyre_program *program,
                         const vyre_split_options *options, split_decisions *out,
                         vyre_module **out_module, vyre_diag *diag);
void split_decisions_finish(split_decisions *decisions);
/* Behind the account of --explain, and as the last members of the object of --json. */
void split_write_decisions(vyre_text *text, const char *backend, const vyre_module *module,
                           const split_decisions *decisions);
void split_write_decisions_json(vyre_text *text, const char *backend, const vyre_module *module,
                                const split_decisions *decisions);

#endif
