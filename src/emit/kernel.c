/* Functions as the dialects with kernels write them: parameters, arguments, and a program as a
 * kernel in which each thread is a lane. What languages spell apart is in their tables. */
#include "base/diag.h"
#include "emit/emit.h"

void emit_params(vyre_text *out, const emit_program *e, const char *begin) {
    const emit_dialect *dialect = e->dialect;
    for (vyre_decl i = 0; i < e->p->decl_count; i++) {
        const vyre_decl_node *d = &e->p->decls[i];
        const vyre_type type = (vyre_type)d->type;
        if (vyre_role_is_buffer((vyre_role)d->role)) {
            /* what splitting adds may come by two names, which begin with _ */
            vyre_text_printf(out, "%s%s%s%s *%s%s", begin, dialect->space[e->spaces[i]],
                             d->role == VYRE_IN ? "const " : "", emit_element_type(type),
                             d->name[0] == '_' ? "" : dialect->restricted, e->decls[i]);
            if (emit_has_len(e->p, i)) {
                vyre_text_printf(out, ", uint32_t %s", e->lens[i]);
            }
            begin = ", ";
        } else if (d->role == VYRE_PARAM) {
            vyre_text_printf(out, "%s%s %s", begin,
                             dialect->keeps_params_as_words ? emit_element_type(type)
                                                            : emit_value_type(type),
                             e->decls[i]);
            begin = ", ";
        }
    }
}

uint64_t emit_workgroup_bytes(const vyre_program_view *p) {
    uint64_t bytes = 0, count = 0;
    for (vyre_decl i = 0; i < p->decl_count; i++) {
        if (p->decls[i].role == VYRE_WORKGROUP && emit_constant_count(p, i, &count)) {
            bytes += count * vyre_type_size((vyre_type)p->decls[i].type);
        }
    }
    return bytes;
}

void emit_arguments(vyre_text *out, const emit_program *e, const char *begin, const char *before) {
    for (vyre_decl i = 0; i < e->p->decl_count; i++) {
        const uint8_t role = e->p->decls[i].role;
        if (vyre_role_is_buffer((vyre_role)role) || role == VYRE_PARAM) {
            vyre_text_printf(out, "%s%s%s", begin, before, e->decls[i]);
            begin = ", ";
        }
        if (emit_has_len(e->p, i)) {
            vyre_text_printf(out, "%s%s%s", begin, before, e->lens[i]);
        }
    }
}

vyre_status emit_kernel(const emit_kernel_text *how, const vyre_program *program, emit_used *used,
                        const vyre_allocator *a, vyre_text *out, vyre_diag *diag) {
    emit_program e;
    vyre_status status = emit_program_init(&e, how->dialect, used, out, program, true, a, diag);
    if (status != VYRE_OK) {
        return status;
    }
    if (how->decls) {
        emit_trust(&e, how->decls);
    }
    for (size_t i = 0; how->unchecked && i < (size_t)e.p->expr_count + e.p->stmt_count; i++) {
        e.proven[i] = true;
    }
    how->dialect->kernel(out, e.p->workgroup);
    vyre_text_printf(out, "%s_kernel(", how->name);
    emit_params(out, &e, "");
    vyre_text_puts(out, ") {\n");
    vyre_text_puts(out, how->prologue);
    e.indent = 1;
    for (vyre_decl i = 0; i < e.p->decl_count; i++) {
        uint64_t count = 0;
        if (e.p->decls[i].role == VYRE_WORKGROUP && emit_constant_count(e.p, i, &count)) {
            emit_line(&e, "%s%s %s[%llu];", how->dialect->workgroup,
                      emit_element_type((vyre_type)e.p->decls[i].type), e.decls[i],
                      (unsigned long long)(count ? count : 1));
        }
    }
    emit_locals(&e);
    e.keeps_live = how->dialect->flags_ends && emit_needs_live(e.p);
    if (e.keeps_live) {
        emit_line(&e, "bool vy_live = true;");
    }
    emit_body(&e);
    vyre_text_puts(out, "}\n");
    status = emit_program_status(&e, diag);
    emit_program_finish(&e);
    return status;
}
