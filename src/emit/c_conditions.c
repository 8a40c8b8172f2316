/* Conditions that a module rests on (analysis/conditions.h), tested by the host part before the
 * first step: the numbers are its arguments and its grid. */
#include "emit/c.h"
#include "split/module.h"

static const char *part_text(emit_program *e, const vyre_number_part *part) {
    const char *text = part->op == VYRE_EXPR_LEN ? e->lens[part->ref]
                       : part->op == VYRE_EXPR_REF
                           ? emit_format(e, "(uint32_t)%s", e->decls[part->ref])
                           : emit_format(e, "vy_grid.groups_%c", "xyz"[part->axis]);
    const uint32_t lanes = part->op == VYRE_EXPR_BUILTIN && part->ref == VYRE_BUILTIN_GLOBAL_SIZE
                               ? e->p->workgroup[part->axis]
                               : 1;
    const uint32_t factor = part->factor * lanes; /* modulo 2^32, as the sum */
    return factor == 1 ? text : emit_format(e, "%uu * %s", (unsigned)factor, text);
}

/* Modulo 2^32, as a uint64_t. */
static const char *number_text(emit_program *e, const vyre_number *n) {
    const char *text = emit_format(e, "%uu", (unsigned)n->constant);
    for (uint32_t i = 0; i < n->count; i++) {
        const char *part = part_text(e, &n->parts[i]);
        text = i == 0 && n->constant == 0 ? part : emit_format(e, "%s + %s", text, part);
    }
    return emit_format(e, "(uint64_t)(uint32_t)(%s)", text);
}

void emit_c_conditions(emit_program *e, const vyre_module *module) {
    for (uint32_t i = 0; i < module->conditions.count; i++) {
        const vyre_condition *c = &module->conditions.data[i];
        vyre_arena_reset(&e->texts);
        const char *x = number_text(e, &c->x), *y = number_text(e, &c->y);
        emit_line(e, "// %s fits, or lanes would not meet at a barrier", c->text);
        emit_line(e, "if (%s * %s > UINT32_MAX) return vy_size_error;", x, y);
    }
}
