/* All rewrites, in their order: each may leave work for those behind it, none for those before. */
#include "base/alloc.h"
#include "base/diag.h"
#include "ir/program.h"
#include "lower/capabilities.h"
#include "lower/inline.h"
#include "lower/rewrites.h"
#include "lower/settle.h"

static vyre_lower_rewrite *const rewrites[] = {
    vyre_lower_rows,    vyre_lower_pending, vyre_lower_storage,  vyre_lower_copies,
    vyre_lower_atomics, vyre_lower_traps,   vyre_lower_converge, vyre_lower_elementary,
    vyre_lower_zero,    vyre_lower_bounds,
};

/* They work on programs without functions; a program that needs none keeps its own. */
static vyre_status without_calls(const vyre_program *program, const vyre_capabilities *can,
                                 const vyre_allocator *a, vyre_program **out_program,
                                 vyre_diag *diag) {
    if (vyre_program_get(program)->fn_count == 0 ||
        (vyre_can_stmt(can, VYRE_STMT_CALL) && can->checks_bounds &&
         vyre_can_program(can, program, NULL) == VYRE_OK)) {
        *out_program = vyre_program_share(program);
        return VYRE_OK;
    }
    return vyre_inline(program, a, out_program, diag);
}

vyre_status vyre_lower(const vyre_program *program, const vyre_capabilities *can,
                       const vyre_allocator *allocator, vyre_program **out_program,
                       vyre_diag *diag) {
    if (!program || !can || !out_program) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT,
                         "give a program, capabilities and a place for the result",
                         "an argument of vyre_lower is NULL");
    }
    vyre_allocator a = vyre_allocator_or_system(allocator);
    vyre_program *settled = NULL, *now = NULL;
    vyre_condition_list conditions = {0}; /* for whoever runs the source to test */
    vyre_status status = vyre_settle(program, &a, &settled, &conditions, diag);
    if (status == VYRE_OK) {
        status = without_calls(settled, can, &a, &now, diag);
        vyre_program_release(settled);
    }
    vyre_vec_free(&a, &conditions);
    for (uint32_t i = 0; i < sizeof rewrites / sizeof *rewrites && status == VYRE_OK; i++) {
        vyre_program *next = NULL;
        status = rewrites[i](now, can, &a, &next, diag);
        vyre_program_release(now);
        now = next;
    }
    if (status == VYRE_OK) {
        status = vyre_can_program(can, now, diag);
    }
    if (status != VYRE_OK) {
        vyre_program_release(now);
        return status;
    }
    *out_program = now;
    return VYRE_OK;
}
