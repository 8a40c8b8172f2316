/* The frame of statement-wise rewrites. */
#include "ir/each.h"

#include "base/diag.h"
#include "ir/builder.h"

const char *vyre_each_name(vyre_each *each, const char *base) {
    const char *name = vyre_unique_name(&each->names, base);
    if (!name) {
        vyre_builder_fail_memory(each->rw.to);
    }
    return name ? name : "x";
}

static bool take_names(vyre_each *each) {
    const vyre_program_view *p = each->rw.p;
    bool ok = vyre_unique_reserve(&each->names, p);
    for (uint32_t i = 0; i < p->var_count && ok; i++) {
        ok = vyre_unique_name(&each->names, p->vars[i].name) != NULL;
    }
    return ok;
}

static vyre_status rewrite(vyre_each *each, vyre_each_begin_fn begin, vyre_each_fn replace,
                           vyre_program **out_program, vyre_diag *diag) {
    if (!take_names(each)) {
        return vyre_fail_memory(diag, "rewriting a program");
    }
    vyre_rewriter *rw = &each->rw;
    vyre_rewrite_decls(rw);
    vyre_rewrite_header(rw);
    if (begin) {
        begin(each);
    }
    for (vyre_stmt s = rw->p->entry; s < rw->p->stmt_count; s++) {
        if (!replace || !replace(each, s)) {
            vyre_rewrite_stmt(rw, s);
        }
    }
    return vyre_builder_finish(rw->to, out_program, diag);
}

vyre_status vyre_each_rewrite(const vyre_program *program, vyre_each_begin_fn begin,
                              vyre_each_fn replace, void *user, const vyre_allocator *a,
                              vyre_program **out_program, vyre_diag *diag) {
    vyre_builder *b = NULL;
    vyre_each each = {.user = user};
    vyre_status status = vyre_builder_create(a, vyre_program_get(program)->name, &b);
    if (status == VYRE_OK) {
        status = vyre_rewriter_init(&each.rw, program, b, a);
    }
    if (status == VYRE_OK) {
        vyre_unique_init(&each.names, a);
        status = rewrite(&each, begin, replace, out_program, diag);
        vyre_unique_finish(&each.names);
        vyre_rewriter_finish(&each.rw);
    } else {
        (void)vyre_fail_memory(diag, "rewriting a program");
    }
    vyre_builder_destroy(b);
    return status;
}
