/* A copy of a program that differs only in its workgroup; the caller has made sure that the meaning
 * does not depend on it. */
#include "dispatch/reshape.h"

#include "base/diag.h"
#include "ir/rewrite.h"

vyre_status vyre_reshape(const vyre_program *program, const uint32_t workgroup[3],
                         const vyre_allocator *a, vyre_program **out_program, vyre_diag *diag) {
    const vyre_program_view *view = vyre_program_get(program);
    vyre_builder *b = NULL;
    vyre_rewriter rw;
    if (vyre_builder_create(a, view->name, &b) != VYRE_OK) {
        return vyre_fail_memory(diag, "a copy of the program");
    }
    vyre_status status = vyre_rewriter_init(&rw, program, b, a);
    if (status == VYRE_OK) {
        vyre_rewrite_decls(&rw);
        vyre_rewrite_header(&rw);
        vyre_build_workgroup(b, workgroup[0], workgroup[1], workgroup[2]);
        vyre_rewrite_fns(&rw);
        vyre_rewrite_range(&rw, view->entry, view->stmt_count);
        status = vyre_builder_finish(b, out_program, diag);
        vyre_rewriter_finish(&rw);
    } else {
        (void)vyre_fail_memory(diag, "a copy of the program");
    }
    vyre_builder_destroy(b);
    return status;
}
