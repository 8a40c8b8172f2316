/* The one rewriter: copies parts of a program into a builder, through maps of declarations,
 * variables and functions, with places kept. A rewrite sets up the maps, copies what it keeps and
 * builds what it changes. */
#ifndef VYRE_SRC_IR_REWRITE_H
#define VYRE_SRC_IR_REWRITE_H

#include "base/alloc.h"
#include "vyre/ir.h"

typedef struct vyre_rewriter {
    vyre_allocator allocator;
    const vyre_program *source;
    const vyre_program_view *p; /* of the source */
    vyre_builder *to;
    /* Source handle -> handle in `to`; VYRE_NONE: not there (yet). */
    vyre_decl *decls;
    vyre_var *vars;
    vyre_fn *fns;
    /* (optional) The expression in `to` that stands for the source expression, or VYRE_NONE to copy
     * it. Operands have been copied: operands[i] stands for u.arg[i]. */
    vyre_expr (*replace)(struct vyre_rewriter *rw, vyre_expr expr, const vyre_expr *operands,
                         void *user);
    /* (optional) The name a copied variable gets; NULL: its own. */
    const char *(*rename)(struct vyre_rewriter *rw, vyre_var var, void *user);
    /* (optional) The tag of a copied async statement; NULL: its own. */
    const char *(*retag)(struct vyre_rewriter *rw, const char *tag, void *user);
    void *user;
} vyre_rewriter;

/* All maps empty. VYRE_OUT_OF_MEMORY leaves nothing to finish. */
vyre_status vyre_rewriter_init(vyre_rewriter *rw, const vyre_program *source, vyre_builder *to,
                               const vyre_allocator *a);
void vyre_rewriter_finish(vyre_rewriter *rw);

/* Header: workgroup size and clause (whose declarations must be copied before). */
void vyre_rewrite_header(vyre_rewriter *rw);
/* Copies one declaration (those its size and value name must be copied before) and maps it. */
vyre_decl vyre_rewrite_decl(vyre_rewriter *rw, vyre_decl decl);
/* Copies all declarations, in order; sizes may refer to later ones. */
void vyre_rewrite_decls(vyre_rewriter *rw);
/* Copies one function in two steps, so that bodies may call functions declared later. */
vyre_fn vyre_rewrite_fn_declare(vyre_rewriter *rw, vyre_fn fn);
void vyre_rewrite_fn_body(vyre_rewriter *rw, vyre_fn fn);
/* Copies all functions with their bodies. */
void vyre_rewrite_fns(vyre_rewriter *rw);
/* Copies the tree below `root`; VYRE_NONE gives VYRE_NONE. */
vyre_expr vyre_rewrite_expr(vyre_rewriter *rw, vyre_expr root);
/* A literal in `to` for a reference to a const, VYRE_NONE for any other expression. */
vyre_expr vyre_rewrite_const(vyre_rewriter *rw, vyre_expr expr);
/* Copies one statement (openers, ELSE and END too) and maps the variable it binds. */
void vyre_rewrite_stmt(vyre_rewriter *rw, vyre_stmt stmt);
/* Copies statements [begin, end). */
void vyre_rewrite_range(vyre_rewriter *rw, vyre_stmt begin, vyre_stmt end);

/* First expression of the contiguous tree that ends at `root`. */
vyre_expr vyre_expr_first(const vyre_program_view *p, vyre_expr root);

#endif
