/* The inside of the builder, shared by its files: builder.c (life, errors, laying out the program),
 * build_expr.c, build_decl.c, build_stmt.c. */
#ifndef VYRE_SRC_IR_BUILDER_STATE_H
#define VYRE_SRC_IR_BUILDER_STATE_H

#include "base/intern.h"
#include "ir/builder.h"
#include "ir/dimensions.h"
#include "ir/program.h"

typedef struct vyre_pool_node {
    vyre_expr_node node;
    vyre_packed_place place;
    uint32_t depth;
} vyre_pool_node;

typedef struct vyre_open_list {
    vyre_stmt opener;
    vyre_stmt middle; /* its ELSE, or VYRE_NONE */
} vyre_open_list;

typedef struct vyre_body {
    VYRE_VEC(vyre_stmt_node) stmts;
    VYRE_VEC(vyre_packed_place) stmt_places;
    VYRE_VEC(vyre_expr_node) exprs;
    VYRE_VEC(vyre_packed_place) expr_places;
    VYRE_VEC(vyre_open_list) open;
} vyre_body;

typedef struct vyre_builder_function {
    vyre_fn_node node;
    vyre_packed_place place;
    bool begun, ended;
    vyre_body code;
} vyre_builder_function;

struct vyre_builder {
    vyre_allocator allocator;
    vyre_diag error;
    vyre_packed_place place;
    vyre_intern strings;
    const char *name;
    uint32_t workgroup[3];
    vyre_clause clause_kind;
    vyre_expr clause[3];
    vyre_packed_place program_place;
    VYRE_VEC(vyre_decl_node) decls;
    VYRE_VEC(vyre_packed_place) decl_places;
    VYRE_VEC(vyre_var_node) vars;
    VYRE_VEC(vyre_packed_place) var_places;
    VYRE_VEC(uint32_t) args;
    VYRE_VEC(vyre_pool_node) pool;
    VYRE_VEC(vyre_builder_function) fns;
    vyre_body decl_code; /* expressions of declarations and clauses; no statements */
    vyre_body entry;
    vyre_fn current; /* function whose body is open, or VYRE_NONE */
    bool finished;
};

/* Errors. The first one is kept; on a failed builder every call is a no-op. */
static inline bool vyre_builder_ok(const vyre_builder *b) {
    return b->error.status == VYRE_OK && !b->finished;
}
void vyre_builder_misuse(vyre_builder *b, const char *what);

/* A text of the program, or "" on a builder that has failed. Names must be identifiers. */
const char *vyre_builder_intern(vyre_builder *b, const char *text);
const char *vyre_builder_intern_name(vyre_builder *b, const char *name);

/* The body that is open. */
static inline vyre_body *vyre_builder_code(vyre_builder *b) {
    return b->current == VYRE_NONE ? &b->entry : &b->fns.data[b->current].code;
}

/* True if it is memory (or, `memory` false, a param or const) of this builder; else it fails. */
bool vyre_builder_is_decl(vyre_builder *b, vyre_decl decl, bool memory);

/* Copies the tree below `root` from the pool to the end of the body's expressions, operands first.
 * In exact mode (sizes and clauses) every node is an exact integer, so literals lose their width.
 */
vyre_expr vyre_builder_commit(vyre_builder *b, vyre_body *to, vyre_expr root, bool exact);
/* The same, where VYRE_NONE stands for nothing. */
vyre_expr vyre_builder_commit_optional(vyre_builder *b, vyre_body *to, vyre_expr root, bool exact);

#endif
