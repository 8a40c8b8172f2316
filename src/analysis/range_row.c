/* Stores to rows: indices global_id.x + pitch * global_id.y + offset, modulo 2^32, by lanes with
 * global_id.x < pitch. What the form of the index has of ids along x and y is taken apart, and the
 * rest must be a constant; where the store stands the facts of the walk tell whether x is below the
 * pitch. */
#include "analysis/range_state.h"

typedef struct parts {
    int64_t x[2], y[2];          /* factors of local_id and group_id */
    uint32_t pitch;              /* symbol that those of y are multiplied by, or VYRE_NONE */
    bool is_mixed, has_constant; /* y by several symbols; by none */
} parts;

static bool is_id(const vyre_symbol *s, uint32_t axis) {
    return s->kind == VYRE_SYMBOL_BUILTIN && s->axis == axis &&
           (s->sub == VYRE_BUILTIN_LOCAL_ID || s->sub == VYRE_BUILTIN_GROUP_ID);
}

static bool is_pitch(const vyre_symbol *s) {
    return s->kind == VYRE_SYMBOL_PARAM || s->kind == VYRE_SYMBOL_LEN;
}

/* Takes a term; false: it is none of these. */
static bool take(const vyre_ranges *r, parts *p, uint32_t symbol, int64_t factor) {
    const vyre_symbol *s = &r->symbols.data[symbol];
    if (is_id(s, 0)) {
        p->x[s->sub == VYRE_BUILTIN_GROUP_ID] = factor;
        return true;
    }
    if (is_id(s, 1)) {
        p->y[s->sub == VYRE_BUILTIN_GROUP_ID] = factor;
        p->has_constant = true;
        return true;
    }
    if (s->kind != VYRE_SYMBOL_PRODUCT) {
        return false;
    }
    const bool first = is_id(&r->symbols.data[s->operand[0]], 1);
    const uint32_t other = s->operand[first ? 1 : 0];
    const vyre_symbol *id = &r->symbols.data[s->operand[first ? 0 : 1]];
    if (!is_id(id, 1) || !is_pitch(&r->symbols.data[other])) {
        return false;
    }
    p->is_mixed |= p->pitch != VYRE_NONE && p->pitch != other;
    p->pitch = other;
    p->y[id->sub == VYRE_BUILTIN_GROUP_ID] = factor;
    return true;
}

/* Whether factors of local_id and group_id are those of so many global_ids. */
static bool are_global(const int64_t factors[2], int64_t times, uint32_t size) {
    return factors[1] == times * (int64_t)size && (factors[0] == times || size == 1);
}

/* Whether global_id.x is below the pitch, here. */
static bool is_below(range_state *s, const vyre_affine *pitch) {
    static const vyre_expr_node along_x = {
        .op = VYRE_EXPR_BUILTIN, .type = VYRE_U32, .sub = VYRE_BUILTIN_GLOBAL_ID};
    const range_value x = range_builtin(s, &along_x);
    if (x.value == VYRE_NONE) {
        return false;
    }
    const vyre_affine id = *range_at(s, x.value);
    return range_prove_order(s, &id, pitch, -1);
}

vyre_row range_row(range_state *s, vyre_expr index) {
    const vyre_row none = {0};
    const uint32_t form = s->r->exprs[index].index, *size = s->p->workgroup;
    parts p = {.pitch = VYRE_NONE};
    if (form == VYRE_NONE) {
        return none;
    }
    const vyre_affine all = *range_at(s, form);
    vyre_row row = {.kind = VYRE_ROW_ALONE, .offset = (uint32_t)all.constant};
    for (uint32_t i = 0; i < all.count; i++) {
        if (!take(s->r, &p, all.symbols[i], all.factors[i])) {
            return none;
        }
    }
    if (all.constant < 0 || all.constant > UINT32_MAX || !are_global(p.x, 1, size[0])) {
        return none;
    }
    vyre_affine pitch;
    if (p.pitch != VYRE_NONE) {
        const vyre_symbol symbol = s->r->symbols.data[p.pitch];
        row.kind = symbol.kind == VYRE_SYMBOL_PARAM ? VYRE_ROW_PARAM : VYRE_ROW_LEN;
        row.pitch = symbol.ref;
        pitch = vyre_affine_symbol(p.pitch);
        p.is_mixed |= p.has_constant || !are_global(p.y, 1, size[1]);
    } else if (p.has_constant) {
        const int64_t times = size[1] == 1 ? p.y[1] : p.y[0];
        row.kind = VYRE_ROW_NUMBER;
        row.pitch = (uint32_t)times;
        pitch = vyre_affine_constant(times);
        p.is_mixed |= times <= 0 || times > UINT32_MAX || !are_global(p.y, times, size[1]);
    } else {
        return row;
    }
    return p.is_mixed || !is_below(s, &pitch) ? none : row;
}
