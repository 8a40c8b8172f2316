/* Ranges as text. */
#include "unit/ranges_text.h"

static void print_symbol(vyre_text *out, const vyre_program_view *p, const vyre_ranges *r,
                         uint32_t number) {
    const vyre_symbol *s = vyre_ranges_symbol(r, number);
    const char *name = s->var == VYRE_NONE ? "" : p->vars[s->var].name;
    const char *between = ", ";
    switch ((vyre_symbol_kind)s->kind) {
    case VYRE_SYMBOL_LEN: vyre_text_printf(out, "len(%s)", p->decls[s->ref].name); return;
    case VYRE_SYMBOL_PARAM: vyre_text_puts(out, p->decls[s->ref].name); return;
    case VYRE_SYMBOL_BUILTIN:
        vyre_text_puts(out, vyre_builtin_name((vyre_builtin)s->sub));
        if (vyre_builtin_axes((vyre_builtin)s->sub) == 3) {
            vyre_text_printf(out, ".%c", "xyz"[s->axis]);
        }
        return;
    case VYRE_SYMBOL_LOOP: vyre_text_puts(out, name); return;
    case VYRE_SYMBOL_HEAD: vyre_text_printf(out, "%s@head", name); return;
    case VYRE_SYMBOL_JOIN: vyre_text_printf(out, "%s@join", name); return;
    case VYRE_SYMBOL_RESULT: vyre_text_printf(out, "%s@result", name); return;
    case VYRE_SYMBOL_VALUE:
        vyre_text_printf(out, "value(%s)",
                         p->exprs[s->ref].op == VYRE_EXPR_LOAD ? p->decls[p->exprs[s->ref].ref].name
                                                               : "");
        return;
    case VYRE_SYMBOL_PRODUCT:
        print_symbol(out, p, r, s->operand[0]);
        vyre_text_puts(out, " * ");
        print_symbol(out, p, r, s->operand[1]);
        return;
    case VYRE_SYMBOL_WRAPPED: vyre_text_puts(out, "wrap("); break;
    case VYRE_SYMBOL_QUOTIENT:
    case VYRE_SYMBOL_REMAINDER:
        between = s->kind == VYRE_SYMBOL_QUOTIENT ? " / " : " % ";
        vyre_text_puts(out, "(");
        break;
    case VYRE_SYMBOL_MIN: vyre_text_puts(out, "min("); break;
    case VYRE_SYMBOL_MAX: vyre_text_puts(out, "max("); break;
    case VYRE_SYMBOL_OPERATOR:
        vyre_text_printf(out, "%s(", vyre_expr_info_of((vyre_expr_op)s->sub)->spelling);
        break;
    case VYRE_SYMBOL_KINDS: return;
    }
    ranges_print_form(out, p, r, vyre_ranges_form(r, s->operand[0]));
    if (s->operand[1] != VYRE_NONE) {
        vyre_text_puts(out, between);
        ranges_print_form(out, p, r, vyre_ranges_form(r, s->operand[1]));
    }
    vyre_text_puts(out, ")");
}

void ranges_print_form(vyre_text *out, const vyre_program_view *p, const vyre_ranges *r,
                       const vyre_affine *form) {
    for (uint32_t i = 0; i < form->count; i++) {
        const int64_t factor = form->factors[i], size = factor < 0 ? -factor : factor;
        vyre_text_puts(out, i == 0 ? (factor < 0 ? "-" : "") : factor < 0 ? " - " : " + ");
        if (size != 1) {
            vyre_text_printf(out, "%" PRId64 " * ", size);
        }
        print_symbol(out, p, r, form->symbols[i]);
    }
    if (form->count == 0) {
        vyre_text_printf(out, "%" PRId64, form->constant);
    } else if (form->constant != 0) {
        vyre_text_printf(out, " %c %" PRId64, form->constant < 0 ? '-' : '+',
                         form->constant < 0 ? -form->constant : form->constant);
    }
}

static void print_access(vyre_text *out, const vyre_program_view *p, const vyre_ranges *r,
                         const char *what, vyre_decl memory, vyre_expr index, bool inside) {
    vyre_range range;
    vyre_text_printf(out, "%s %s[", what, p->decls[memory].name);
    if (!vyre_ranges_of(r, index, &range)) {
        vyre_text_puts(out, "?] not\n");
        return;
    }
    ranges_print_form(out, p, r, &range.index);
    vyre_text_printf(out, "]%s %s\n", range.exact ? "" : " modulo", inside ? "inside" : "not");
}

void ranges_print_accesses(vyre_text *out, const vyre_program_view *p, const vyre_ranges *r) {
    for (vyre_stmt at = p->entry; at < p->stmt_count; at++) {
        const vyre_stmt_node *s = &p->stmts[at];
        for (vyre_expr e = s->first_expr; e < s->end_expr; e++) {
            if (p->exprs[e].op == VYRE_EXPR_LOAD) {
                print_access(out, p, r, "load", p->exprs[e].ref, p->exprs[e].u.arg[0],
                             vyre_ranges_load_inside(r, e));
            }
        }
        if (s->op == VYRE_STMT_STORE || s->op == VYRE_STMT_ATOMIC) {
            print_access(out, p, r, s->op == VYRE_STMT_STORE ? "store" : "atomic", s->decl,
                         s->arg[0], vyre_ranges_access_inside(r, at));
        }
    }
}
