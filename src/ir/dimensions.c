/* Memory of several dimensions.
 *
 * To the program it is a line of elements, the last index fastest, and almost nobody has to know
 * more. That each index is inside of its own dimension is told by one operator,
 *
 *     row(y, w, x)  =  y * w + x   if x < w and the row ends at 2^32 or before,  else 2^32 - 1
 *
 * for an index beyond its dimension must not reach the next row. No memory has 2^32 elements, so
 * 2^32 - 1 is outside of all, and so is every row behind the last: t[y][x] is the element
 * row(y, w, x), t[z][y][x] the element row(row(z, h, y), w, x), where an inner 2^32 - 1 stays
 * what it is. The first dimension is the length of memory, which is tested anyway. Where ranges
 * prove both conditions lowering leaves y * w + x, what one would have written by hand
 * (lower/lower_rows.c).
 *
 * What a declaration has of it is its rank. The dimensions are the factors of its size, from the
 * root: (d0 * d1) * d2; without a first one, they are those of `inner`. They are exact integers,
 * of which lanes compute the same as u32: + - * modulo 2^32, which is enough since a dispatch
 * refuses dimensions beyond it, and everything else in i64.
 *
 * Rank is for people and for the caller: texts, messages, what may be swapped, bytes that must
 * divide. A rewrite may access memory otherwise; then its rank is 1 in the result, so that every
 * program has a text. */
#include "ir/dimensions.h"

#include "ir/builder_state.h"

/* The program, or what a builder has of its declarations so far. */
typedef struct source {
    const vyre_decl_node *decls;
    const vyre_expr_node *exprs;
} source;

static source source_of(const vyre_builder *b) {
    return (source){b->decls.data, b->decl_code.exprs.data};
}

static vyre_expr dimension_of(source s, vyre_decl decl, uint32_t dimension) {
    const vyre_decl_node *d = &s.decls[decl];
    const bool has_first = d->size != VYRE_NONE;
    vyre_expr root = has_first ? d->size : d->inner;
    if (!has_first && dimension == 0) {
        return VYRE_NONE;
    }
    /* Factors before the last one lie to the left. */
    for (uint32_t at = d->rank; at > 1; at--) {
        const bool is_first = at == 2 && !has_first;
        if (dimension == at - 1) {
            return is_first ? root : s.exprs[root].u.arg[1];
        }
        root = is_first ? root : s.exprs[root].u.arg[0];
    }
    return root;
}

vyre_expr vyre_decl_dimension(const vyre_program_view *p, vyre_decl decl, uint32_t dimension) {
    return dimension_of((source){p->decls, p->exprs}, decl, dimension);
}

uint32_t vyre_builder_rank(const vyre_builder *b, vyre_decl memory) {
    return memory < b->decls.count ? b->decls.data[memory].rank : 0;
}

/* Declaring */

void vyre_build_decl_dimensions(vyre_builder *b, vyre_decl decl, const vyre_expr *dimensions,
                                uint32_t rank) {
    if (!vyre_builder_is_decl(b, decl, true)) {
        return;
    }
    if (rank < 1 || rank > 3) {
        vyre_builder_misuse(b, "memory has 1 to 3 dimensions");
        return;
    }
    vyre_expr product = dimensions[0];
    for (uint32_t i = 1; i < rank; i++) {
        product = product == VYRE_NONE
                      ? dimensions[i]
                      : vyre_build_op(b, VYRE_EXPR_MUL, product, dimensions[i], VYRE_NONE);
    }
    const vyre_expr root = vyre_builder_commit_optional(b, &b->decl_code, product, true);
    b->decls.data[decl].rank = (uint8_t)rank;
    b->decls.data[decl].size = dimensions[0] == VYRE_NONE ? VYRE_NONE : root;
    b->decls.data[decl].inner = dimensions[0] == VYRE_NONE ? root : VYRE_NONE;
}

void vyre_builder_set_dimensions(vyre_builder *b, vyre_decl decl, uint32_t rank, vyre_expr inner) {
    if (vyre_builder_is_decl(b, decl, true)) {
        const vyre_expr root = vyre_builder_commit_optional(b, &b->decl_code, inner, true);
        b->decls.data[decl].rank = (uint8_t)rank;
        b->decls.data[decl].inner = root;
    }
}

/* Lengths of dimensions, in lanes and in sizes */

typedef enum counting { WAY_EXACT, WAY_U32, WAY_I64 } counting;

static vyre_expr tree_begin(source s, vyre_expr root) {
    while (vyre_expr_arity(&s.exprs[root]) > 0) {
        root = s.exprs[root].u.arg[0];
    }
    return root;
}

static bool needs_i64(source s, vyre_expr root) {
    for (vyre_expr i = tree_begin(s, root); i <= root; i++) {
        const uint8_t op = s.exprs[i].op;
        if (vyre_expr_arity(&s.exprs[i]) > 0 && op != VYRE_EXPR_ADD && op != VYRE_EXPR_SUB &&
            op != VYRE_EXPR_MUL && op != VYRE_EXPR_NEG) {
            return true;
        }
    }
    return false;
}

static vyre_expr leaf(vyre_builder *b, const vyre_expr_node *e, counting way) {
    const vyre_type type = way == WAY_U32 ? VYRE_U32 : VYRE_I64;
    if (e->op == VYRE_EXPR_LITERAL) {
        return vyre_build_literal(b, type, e->u.bits);
    }
    const bool is_len = e->op == VYRE_EXPR_LEN;
    const vyre_expr made = is_len ? vyre_build_len(b, e->ref) : vyre_build_ref(b, e->ref);
    const vyre_type own = is_len ? VYRE_U32 : (vyre_type)b->decls.data[e->ref].type;
    return way == WAY_EXACT || own == type ? made : vyre_build_cast(b, type, made);
}

/* A copy of the tree among the expressions of the builder. */
static vyre_expr copy(vyre_builder *b, vyre_expr root, counting way) {
    vyre_expr stack[2 * VYRE_BUILDER_EXPR_DEPTH + 2] = {VYRE_NONE};
    uint32_t top = 0;
    for (vyre_expr i = tree_begin(source_of(b), root); i <= root; i++) {
        const vyre_expr_node e = b->decl_code.exprs.data[i];
        const uint32_t arity = vyre_expr_arity(&e);
        top -= arity;
        const vyre_expr made =
            arity == 0 ? leaf(b, &e, way)
                       : vyre_build_op(b, (vyre_expr_op)e.op, stack[top],
                                       arity > 1 ? stack[top + 1] : VYRE_NONE, VYRE_NONE);
        stack[top++] = made;
    }
    return stack[0];
}

static vyre_expr length(vyre_builder *b, vyre_decl memory, uint32_t dimension, bool exact) {
    if (!vyre_builder_is_decl(b, memory, true)) {
        return VYRE_NONE;
    }
    const vyre_decl_node d = b->decls.data[memory];
    const uint32_t rank = d.rank ? d.rank : 1;
    if (dimension >= rank) {
        vyre_builder_misuse(b, "no such dimension");
        return VYRE_NONE;
    }
    if (rank == 1) {
        return vyre_build_len(b, memory);
    }
    const vyre_expr root = dimension_of(source_of(b), memory, dimension);
    const vyre_expr from = root == VYRE_NONE ? d.inner : root;
    const bool wide = !exact && needs_i64(source_of(b), from);
    vyre_expr made = copy(b, from, exact ? WAY_EXACT : wide ? WAY_I64 : WAY_U32);
    made = wide ? vyre_build_cast(b, VYRE_U32, made) : made;
    return root == VYRE_NONE
               ? vyre_build_op(b, VYRE_EXPR_DIV, vyre_build_len(b, memory), made, VYRE_NONE)
               : made;
}

vyre_expr vyre_build_dimension(vyre_builder *b, vyre_decl memory, uint32_t dimension) {
    return length(b, memory, dimension, false);
}

vyre_expr vyre_builder_exact_dimension(vyre_builder *b, vyre_decl memory, uint32_t dimension) {
    return length(b, memory, dimension, true);
}

vyre_expr vyre_build_element(vyre_builder *b, vyre_decl memory, const vyre_expr *indices) {
    vyre_expr at = indices[0];
    for (uint32_t i = 1; i < vyre_builder_rank(b, memory); i++) {
        at = vyre_build_op(b, VYRE_EXPR_ROW, at, vyre_build_dimension(b, memory, i), indices[i]);
    }
    return at;
}

/* Accesses */

void vyre_element_indices(const vyre_program_view *p, vyre_decl memory, vyre_expr element,
                          vyre_expr out[3]) {
    for (uint32_t i = p->decls[memory].rank; i > 1; i--) {
        out[i - 1] = p->exprs[element].u.arg[2];
        element = p->exprs[element].u.arg[0];
    }
    out[0] = element;
}

static bool is_same_leaf(const vyre_expr_node *lane, const vyre_expr_node *dimension) {
    if (lane->op != VYRE_EXPR_LITERAL) {
        return lane->ref == dimension->ref;
    }
    return lane->u.bits ==
           (lane->type == VYRE_U32 ? (uint32_t)dimension->u.bits : dimension->u.bits);
}

/* Whether lanes compute just that dimension: both trees in step, casts of lanes left out. */
static bool is_length(source s, const vyre_expr_node *lanes, vyre_expr lane, vyre_expr dimension) {
    struct pair {
        vyre_expr lane, dimension;
    } stack[VYRE_BUILDER_EXPR_DEPTH + 2];
    uint32_t top = 0;
    stack[top++] = (struct pair){lane, dimension};
    while (top > 0) {
        const struct pair now = stack[--top];
        const vyre_expr_node *e = &lanes[now.lane], *d = &s.exprs[now.dimension];
        e = e->op == VYRE_EXPR_CAST ? &lanes[e->u.arg[0]] : e;
        const uint32_t arity = vyre_expr_arity(e);
        if (e->op != d->op || (arity == 0 && !is_same_leaf(e, d)) ||
            top + arity > sizeof stack / sizeof *stack) {
            return false;
        }
        for (uint32_t i = 0; i < arity; i++) {
            stack[top++] = (struct pair){e->u.arg[i], d->u.arg[i]};
        }
    }
    return true;
}

static bool is_element(source s, const vyre_expr_node *lanes, vyre_decl memory, vyre_expr at) {
    for (uint32_t i = s.decls[memory].rank; i > 1; i--) {
        const vyre_expr_node *e = &lanes[at];
        if (e->op != VYRE_EXPR_ROW ||
            !is_length(s, lanes, e->u.arg[1], dimension_of(s, memory, i - 1))) {
            return false;
        }
        at = e->u.arg[0];
    }
    return true;
}

/* Rank 0: no longer that of the caller, and 1 in the end. */
static void flatten(vyre_builder *b, vyre_decl memory) {
    b->decls.data[memory].rank = 0;
    b->decls.data[memory].inner = VYRE_NONE;
}

static void settle_access(vyre_builder *b, const vyre_body *body, vyre_decl memory, vyre_expr at) {
    if (!is_element(source_of(b), body->exprs.data, memory, at)) {
        flatten(b, memory);
    }
}

/* What is swapped keeps the same dimensions: both or none. */
static bool settle_swaps(vyre_builder *b, const vyre_body *body) {
    bool changed = false;
    for (vyre_stmt s = 0; s < body->stmts.count; s++) {
        const vyre_stmt_node *n = &body->stmts.data[s];
        if (n->op == VYRE_STMT_SWAP &&
            (b->decls.data[n->decl].rank == 0) != (b->decls.data[n->decl2].rank == 0)) {
            flatten(b, n->decl);
            flatten(b, n->decl2);
            changed = true;
        }
    }
    return changed;
}

static void settle_body(vyre_builder *b, const vyre_body *body) {
    for (vyre_expr e = 0; e < body->exprs.count; e++) {
        if (body->exprs.data[e].op == VYRE_EXPR_LOAD) {
            settle_access(b, body, body->exprs.data[e].ref, body->exprs.data[e].u.arg[0]);
        }
    }
    for (vyre_stmt s = 0; s < body->stmts.count; s++) {
        const vyre_stmt_node *n = &body->stmts.data[s];
        if (n->op == VYRE_STMT_STORE || n->op == VYRE_STMT_ATOMIC) {
            settle_access(b, body, n->decl, n->arg[0]);
        }
    }
}

void vyre_builder_settle_dimensions(vyre_builder *b) {
    bool any = false;
    for (vyre_decl d = 0; d < b->decls.count; d++) {
        any |= b->decls.data[d].rank > 1;
    }
    if (!any) {
        return;
    }
    for (vyre_fn f = 0; f < b->fns.count; f++) {
        settle_body(b, &b->fns.data[f].code);
    }
    settle_body(b, &b->entry);
    for (bool changed = true; changed;) { /* each time there are fewer that may */
        changed = settle_swaps(b, &b->entry);
        for (vyre_fn f = 0; f < b->fns.count; f++) {
            changed |= settle_swaps(b, &b->fns.data[f].code);
        }
    }
    for (vyre_decl d = 0; d < b->decls.count; d++) {
        const bool flat =
            b->decls.data[d].rank == 0 && vyre_role_is_memory((vyre_role)b->decls.data[d].role);
        b->decls.data[d].rank += flat;
    }
}
