/* Consts while parsing: those that the caller sets, and their values, which sizes of the workgroup
 * need before the program is complete.
 *
 * A const that is set keeps its type and loses its value; what depends on it follows, because it is
 * made of the const. The value of the text is parsed all the same, since it gives the type. */
#include <string.h>

#include "ir/fold.h"
#include "text/parser.h"

static const vyre_setting *setting_of(const vyre_parser *p, const char *name) {
    for (uint32_t i = 0; i < p->setting_count; i++) {
        if (strcmp(p->settings[i].name, name) == 0) {
            return &p->settings[i];
        }
    }
    return NULL;
}

/* The nodes of the statement at hand as expressions that the folder reads. */
static vyre_expr_node expr_of(const vyre_parser *p, const vyre_node *n) {
    vyre_expr_node e = {.op = n->op, .type = n->type, .sub = n->sub};
    for (uint32_t i = 0; i < n->kid_count && i < 3; i++) {
        e.u.arg[i] = p->kids.data[n->first_kid + i];
    }
    return e;
}

/* The value of one node from those of its operands; false: it is not known here. */
static bool value_of(const vyre_parser *p, const vyre_program_view *view, uint32_t at,
                     const uint64_t *values, uint64_t *out) {
    const vyre_node *n = &p->nodes.data[at];
    uint64_t in[3] = {0};
    for (uint32_t i = 0; i < n->kid_count && i < 3; i++) {
        in[i] = values[p->kids.data[n->first_kid + i]];
    }
    if (n->type == VYRE_UNKNOWN) {
        return false; /* reported */
    }
    if (n->op == VYRE_EXPR_LITERAL) {
        const vyre_token *t = &p->tokens[n->ref];
        *out = t->sub == VYRE_KEY_TRUE;
        return t->kind == VYRE_TOKEN_NAME ||
               (vyre_literal_convert(&p->source, n->ref, (vyre_type)n->type, n->negative, out) ==
                    VYRE_LITERAL_FITS &&
                (!n->negative || vyre_type_is_signed((vyre_type)n->type) ||
                 vyre_type_is_float((vyre_type)n->type)));
    }
    if (n->op == VYRE_EXPR_REF) {
        const vyre_item *item = &p->items.data[p->symbols.data[n->ref].item];
        *out = item->value;
        return item->known;
    }
    return n->op < VYRE_EXPR_COUNT && vyre_fold(view, at, in, out);
}

static void fold_tree(vyre_parser *p, vyre_item *item, uint32_t root) {
    const vyre_allocator *a = &p->source.allocator;
    const uint32_t count = root + 1;
    vyre_expr_node *exprs = vyre_alloc(a, count, sizeof *exprs);
    uint64_t *values = vyre_alloc(a, count, sizeof *values);
    if (exprs && values) {
        const vyre_program_view view = {.exprs = exprs, .expr_count = count};
        bool known = true;
        for (uint32_t i = 0; i < count && known; i++) {
            exprs[i] = expr_of(p, &p->nodes.data[i]);
            known = value_of(p, &view, i, values, &values[i]);
        }
        item->known = known;
        item->value = known ? values[root] : 0;
    } else {
        p->out_of_memory = true;
    }
    vyre_free(a, exprs, count, sizeof *exprs);
    vyre_free(a, values, count, sizeof *values);
}

vyre_expr vyre_parser_const_value(vyre_parser *p, vyre_item *item, uint32_t root, vyre_expr own) {
    const vyre_symbol *s = &p->symbols.data[item->symbol];
    const vyre_setting *set = setting_of(p, vyre_source_name(&p->source, s->name));
    const uint8_t type = p->nodes.data[root].type;
    if (!set || set->type != type) {
        fold_tree(p, item, root);
        return own;
    }
    item->value = set->bits;
    item->known = true;
    return vyre_build_literal(p->builder, set->type, set->bits);
}

bool vyre_parser_settings(vyre_parser *p) {
    const vyre_place place = {.file = p->source.file};
    bool fine = true;
    for (uint32_t i = 0; i < p->setting_count; i++) {
        const vyre_setting *set = &p->settings[i];
        const uint32_t number = vyre_intern_find(&p->source.names, set->name, strlen(set->name));
        const uint32_t symbol = number < p->name_count ? p->visible[number] : VYRE_NONE;
        const vyre_symbol *s = symbol == VYRE_NONE ? NULL : &p->symbols.data[symbol];
        if (!s || s->kind != VYRE_SYMBOL_DECL || s->sub != VYRE_CONST) {
            vyre_report(p->source.diags, VYRE_ERROR, VYRE_INVALID_INPUT, "V284", place,
                        "set a const that the program declares", "there is no const `%s` to set",
                        set->name);
            fine = false;
        } else if (s->type != set->type && s->type != VYRE_UNKNOWN) {
            vyre_report(p->source.diags, VYRE_ERROR, VYRE_INVALID_INPUT, "V284", place,
                        "give a value of its type", "the const `%s` is %s and is set to %s",
                        set->name, vyre_type_name((vyre_type)s->type), vyre_type_name(set->type));
            fine = false;
        }
    }
    return fine;
}
