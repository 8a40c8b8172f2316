/* Copies. Each begin stands before its wait, source and destination are two memories, and their
 * elements show their bits (see lower_async.c, lower_storage.c), so that what is left is to move
 * bytes. If elements are of one width and the offset is a multiple of it, elements move as a whole:
 *
 *     for (i in 0 .. min(size / w, len(d))) { d[i] = s[offset / w + i]; }
 *     if (size % w != 0) { the first bytes of one more }
 *
 * else each element of the destination is put together from bytes:
 *
 *     while (done < size && j < len(d)) { take as many bytes as d[j] has left; next j }
 *
 * Loads beyond the end give 0 and stores there are dropped, as a copy wants it; bounds only keep
 * loops short. All sums stay below 2^32 but those of an index and an offset in bytes, which are
 * tested. Two lanes that write parts of one element race, whole or by bytes, so that reading the
 * rest of it first changes nothing. */
#include "base/diag.h"
#include "ir/builder.h"
#include "ir/each.h"
#include "lower/capabilities.h"
#include "lower/rewrites.h"

/* Where bytes come from or go to. */
typedef struct end {
    vyre_decl decl; /* in the result */
    vyre_type type; /* of its elements */
    uint32_t width;
    vyre_expr offset; /* in bytes; VYRE_NONE: 0 */
    uint64_t known;   /* its value if it is a literal, else UINT64_MAX */
} end;

typedef struct copy {
    vyre_each *each;
    vyre_builder *b;
    end from, to;
    vyre_expr size;
    uint64_t known_size; /* likewise */
} copy;

static vyre_expr u32(const copy *c, uint32_t value) {
    return vyre_build_u32(c->b, value);
}

static vyre_expr op(const copy *c, vyre_expr_op which, vyre_expr x, vyre_expr y) {
    return vyre_build_op(c->b, which, x, y, VYRE_NONE);
}

static vyre_expr let(const copy *c, const char *name, vyre_expr value) {
    return vyre_build_var(c->b, vyre_build_let(c->b, vyre_each_name(c->each, name), value));
}

/* offset / width and offset % width. */
static vyre_expr part(const copy *c, const end *e, vyre_expr_op which) {
    if (e->known != UINT64_MAX) {
        uint32_t known = (uint32_t)e->known;
        return u32(c, which == VYRE_EXPR_DIV ? known / e->width : known % e->width);
    }
    if (e->width == 1) {
        return which == VYRE_EXPR_DIV ? e->offset : u32(c, 0);
    }
    return op(c, which, e->offset, u32(c, e->width));
}

/* Elements as bits: u64 if they have eight bytes, else u32. */

static vyre_expr load_bits(const copy *c, const end *e, vyre_expr index) {
    vyre_expr value = vyre_build_load(c->b, e->decl, index);
    vyre_type bits = e->width == 8 ? VYRE_U64 : VYRE_U32;
    return vyre_type_widened(e->type) == bits ? value : vyre_build_bitcast(c->b, bits, value);
}

static void store_bits(const copy *c, vyre_expr index, vyre_expr bits) {
    vyre_type wide = vyre_type_widened(c->to.type);
    bool fits = wide == VYRE_U32 || wide == VYRE_U64;
    vyre_build_store(c->b, c->to.decl, index, fits ? bits : vyre_build_bitcast(c->b, wide, bits));
}

static vyre_expr widen(const copy *c, uint32_t width, vyre_expr bits) {
    return width == 8 ? vyre_build_cast(c->b, VYRE_U64, bits) : bits;
}

static vyre_expr ones(const copy *c, uint32_t width, uint32_t value) {
    return vyre_build_literal(c->b, width == 8 ? VYRE_U64 : VYRE_U32, value);
}

/* base + index, or an index that is nowhere if that is beyond 2^32. */
static vyre_expr sum(const copy *c, const end *e, vyre_expr base, vyre_expr index) {
    if (e->known == 0) {
        return index;
    }
    vyre_expr exact = op(c, VYRE_EXPR_ADD, base, index);
    if (e->width > 1) {
        return exact;
    }
    return vyre_build_op(c->b, VYRE_EXPR_SELECT, op(c, VYRE_EXPR_LT, exact, base),
                         u32(c, UINT32_MAX), exact);
}

/* Whole elements */

static void move(const copy *c, vyre_expr to, vyre_expr from) {
    if (c->from.type == c->to.type) {
        vyre_build_store(c->b, c->to.decl, to, vyre_build_load(c->b, c->from.decl, from));
    } else {
        store_bits(c, to, load_bits(c, &c->from, from));
    }
}

/* The first bytes of element number `whole`. */
static void move_rest(const copy *c, vyre_expr to_base, vyre_expr from_base, vyre_expr whole,
                      vyre_expr rest) {
    uint32_t w = c->to.width;
    vyre_expr to = let(c, "_last", sum(c, &c->to, to_base, whole));
    vyre_expr bytes = op(c, VYRE_EXPR_MUL, rest, u32(c, 8));
    vyre_expr mask =
        let(c, "_mask",
            op(c, VYRE_EXPR_SUB, op(c, VYRE_EXPR_SHL, ones(c, w, 1), bytes), ones(c, w, 1)));
    vyre_expr kept = op(c, VYRE_EXPR_BIT_AND, load_bits(c, &c->to, to),
                        vyre_build_op(c->b, VYRE_EXPR_BIT_NOT, mask, VYRE_NONE, VYRE_NONE));
    vyre_expr from = load_bits(c, &c->from, sum(c, &c->from, from_base, whole));
    store_bits(c, to, op(c, VYRE_EXPR_BIT_OR, kept, op(c, VYRE_EXPR_BIT_AND, from, mask)));
}

static void move_elements(const copy *c) {
    uint32_t w = c->to.width;
    vyre_expr to = part(c, &c->to, VYRE_EXPR_DIV), from = part(c, &c->from, VYRE_EXPR_DIV);
    bool is_known = c->known_size != UINT64_MAX;
    vyre_expr whole = is_known ? u32(c, (uint32_t)c->known_size / w)
                      : w == 1 ? c->size
                               : let(c, "_whole", op(c, VYRE_EXPR_DIV, c->size, u32(c, w)));
    to = c->to.known == UINT64_MAX && w > 1 ? let(c, "_to", to) : to;
    from = c->from.known == UINT64_MAX && w > 1 ? let(c, "_from", from) : from;
    vyre_expr length = vyre_build_len(c->b, c->to.decl);
    vyre_expr room =
        c->to.known == 0 ? length : op(c, VYRE_EXPR_SUB, length, op(c, VYRE_EXPR_MIN, length, to));
    if (!is_known || c->known_size >= w) {
        vyre_expr i =
            vyre_build_var(c->b, vyre_build_for(c->b, vyre_each_name(c->each, "_i"), u32(c, 0),
                                                op(c, VYRE_EXPR_MIN, whole, room), VYRE_NONE));
        move(c, c->to.known == 0 ? i : op(c, VYRE_EXPR_ADD, to, i), sum(c, &c->from, from, i));
        vyre_build_end(c->b);
    }
    if (is_known && c->known_size % w != 0) {
        move_rest(c, to, from, whole, u32(c, (uint32_t)c->known_size % w));
    } else if (!is_known && w > 1) {
        vyre_expr rest = let(c, "_rest", op(c, VYRE_EXPR_REM, c->size, u32(c, w)));
        vyre_build_if(c->b, op(c, VYRE_EXPR_NE, rest, u32(c, 0)));
        move_rest(c, to, from, whole, rest);
        vyre_build_end(c->b);
    }
}

/* Bytes */

static vyre_expr shift_of(const copy *c, vyre_expr bytes) {
    return op(c, VYRE_EXPR_MUL, bytes, u32(c, 8));
}

/* Byte number k behind the offset of the source. */
static vyre_expr load_byte(const copy *c, vyre_expr base, vyre_expr k) {
    const end *e = &c->from;
    uint32_t w = e->width;
    if (w == 1) {
        vyre_expr byte = load_bits(c, e, sum(c, e, base, k));
        return op(c, VYRE_EXPR_BIT_AND, byte, u32(c, 255));
    }
    vyre_expr within = op(c, VYRE_EXPR_REM, k, u32(c, w));
    vyre_expr index = op(c, VYRE_EXPR_DIV, k, u32(c, w));
    if (e->known == UINT64_MAX || e->known % w != 0) {
        within = let(c, "_byte", op(c, VYRE_EXPR_ADD, part(c, e, VYRE_EXPR_REM), within));
        index = op(c, VYRE_EXPR_ADD, index, op(c, VYRE_EXPR_DIV, within, u32(c, w)));
        within = op(c, VYRE_EXPR_REM, within, u32(c, w));
    }
    vyre_expr bits = load_bits(c, e, sum(c, e, base, index));
    bits = op(c, VYRE_EXPR_SHR, bits, shift_of(c, within));
    return op(c, VYRE_EXPR_BIT_AND, w == 8 ? vyre_build_cast(c->b, VYRE_U32, bits) : bits,
              u32(c, 255));
}

/* value with byte number `at` replaced */
static vyre_expr put_byte(const copy *c, vyre_expr value, vyre_expr at, vyre_expr byte) {
    uint32_t w = c->to.width;
    if (w == 1) {
        return byte;
    }
    vyre_expr shift = let(c, "_shift", shift_of(c, at));
    vyre_expr hole = op(c, VYRE_EXPR_SHL, ones(c, w, 255), shift);
    vyre_expr kept = op(c, VYRE_EXPR_BIT_AND, value,
                        vyre_build_op(c->b, VYRE_EXPR_BIT_NOT, hole, VYRE_NONE, VYRE_NONE));
    return op(c, VYRE_EXPR_BIT_OR, kept, op(c, VYRE_EXPR_SHL, widen(c, w, byte), shift));
}

static void move_bytes(const copy *c) {
    vyre_builder *b = c->b;
    uint32_t w = c->to.width;
    vyre_expr first = part(c, &c->to, VYRE_EXPR_DIV), lead = part(c, &c->to, VYRE_EXPR_REM);
    vyre_expr base = part(c, &c->from, VYRE_EXPR_DIV);
    base = c->from.known == UINT64_MAX && c->from.width > 1 ? let(c, "_from", base) : base;
    vyre_var at = vyre_build_let(b, vyre_each_name(c->each, "_to"), first);
    vyre_var used = vyre_build_let(b, vyre_each_name(c->each, "_used"), lead);
    vyre_var done = vyre_build_let(b, vyre_each_name(c->each, "_done"), u32(c, 0));
    vyre_expr index = vyre_build_var(b, at), count = vyre_build_var(b, done);
    vyre_build_while(b, op(c, VYRE_EXPR_AND, op(c, VYRE_EXPR_LT, count, c->size),
                           op(c, VYRE_EXPR_LT, index, vyre_build_len(b, c->to.decl))));
    vyre_expr left = op(c, VYRE_EXPR_SUB, c->size, count);
    vyre_expr room = op(c, VYRE_EXPR_SUB, u32(c, w), vyre_build_var(b, used));
    vyre_expr take = let(c, "_take", op(c, VYRE_EXPR_MIN, left, room));
    vyre_expr old = w == 1 ? u32(c, 0) : load_bits(c, &c->to, index);
    vyre_var value = vyre_build_let(b, vyre_each_name(c->each, "_value"), old);
    vyre_expr t = vyre_build_var(
        b, vyre_build_for(b, vyre_each_name(c->each, "_i"), u32(c, 0), take, VYRE_NONE));
    vyre_expr byte = load_byte(c, base, op(c, VYRE_EXPR_ADD, count, t));
    vyre_expr place = op(c, VYRE_EXPR_ADD, vyre_build_var(b, used), t);
    vyre_expr changed = put_byte(c, vyre_build_var(b, value), place, byte);
    vyre_build_assign(b, value, changed);
    vyre_build_end(b);
    store_bits(c, index, vyre_build_var(b, value));
    vyre_build_assign(b, done, op(c, VYRE_EXPR_ADD, count, take));
    vyre_build_assign(b, used, u32(c, 0));
    vyre_build_assign(b, at, op(c, VYRE_EXPR_ADD, index, u32(c, 1)));
    vyre_build_end(b);
}

/* Alignment */

/* The expression that a variable always has; VYRE_NONE: it is assigned, or bound otherwise. */
static vyre_expr only_value(const vyre_program_view *p, vyre_var var) {
    vyre_expr value = VYRE_NONE;
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        if (p->stmts[s].var == var) {
            if (p->stmts[s].op != VYRE_STMT_LET) {
                return VYRE_NONE;
            }
            value = p->stmts[s].arg[0];
        }
    }
    return value;
}

static uint32_t zeros_of(uint64_t bits) {
    uint32_t zeros = 0;
    while (zeros < 3 && !(bits >> zeros & 1)) {
        zeros++;
    }
    return zeros;
}

/* How many low bits of the u32 expression are surely 0, up to 3; `names` bounds how many names it
 * is followed through. Powers of two divide what wraps, too. */
static uint32_t low_zeros(const vyre_program_view *p, vyre_expr root, uint32_t names) {
    enum { LARGEST = 64 };
    uint8_t zeros[LARGEST] = {0};
    vyre_expr first = vyre_expr_first(p, root);
    for (vyre_expr e = first; e <= root && root - first < LARGEST; e++) {
        const vyre_expr_node *n = &p->exprs[e];
        uint32_t arity = vyre_expr_info_of((vyre_expr_op)n->op)->arity, known = 0;
        uint32_t x = arity > 0 ? zeros[n->u.arg[0] - first] : 0;
        uint32_t y = arity > 1 ? zeros[n->u.arg[1] - first] : 0;
        switch ((int)n->op) {
        case VYRE_EXPR_LITERAL: known = zeros_of(n->u.bits); break;
        case VYRE_EXPR_VAR: {
            vyre_expr value = names > 0 ? only_value(p, n->ref) : VYRE_NONE;
            known = value == VYRE_NONE ? 0 : low_zeros(p, value, names - 1);
            break;
        }
        case VYRE_EXPR_MUL: known = x + y; break;
        case VYRE_EXPR_ADD:
        case VYRE_EXPR_SUB: known = x < y ? x : y; break;
        case VYRE_EXPR_BIT_AND: known = x > y ? x : y; break;
        case VYRE_EXPR_SHL:
            known = p->exprs[n->u.arg[1]].op == VYRE_EXPR_LITERAL
                        ? x + (uint32_t)(p->exprs[n->u.arg[1]].u.bits & 31)
                        : x;
            break;
        default: break;
        }
        zeros[e - first] = (uint8_t)(n->type != VYRE_U32 ? 0 : known < 3 ? known : 3);
    }
    return root - first < LARGEST ? zeros[root - first] : 0;
}

/* One copy */

static uint64_t known(const vyre_program_view *p, vyre_expr e) {
    return p->exprs[e].op == VYRE_EXPR_LITERAL ? p->exprs[e].u.bits : UINT64_MAX;
}

static end end_of(const vyre_rewriter *rw, vyre_decl decl, vyre_expr offset, uint64_t known) {
    vyre_type type = (vyre_type)rw->p->decls[decl].type;
    return (end){.decl = rw->decls[decl],
                 .type = type,
                 .width = vyre_type_size(type),
                 .offset = offset,
                 .known = known};
}

static void replace_copy(vyre_each *each, vyre_stmt s) {
    vyre_rewriter *rw = &each->rw;
    vyre_builder *b = rw->to;
    const vyre_stmt_node *n = &rw->p->stmts[s];
    bool loads = n->op == VYRE_STMT_ASYNC_LOAD;
    uint64_t offset = known(rw->p, n->arg[0]);
    vyre_expr given = vyre_rewrite_expr(rw, n->arg[0]);
    copy c = {.each = each, .b = b, .known_size = known(rw->p, n->arg[1])};
    c.size = vyre_rewrite_expr(rw, n->arg[1]);
    c.from = end_of(rw, n->decl, given, loads ? offset : 0);
    c.to = end_of(rw, n->decl2, given, loads ? 0 : offset);
    vyre_builder_at(b, vyre_program_stmt_place(rw->source, s));
    vyre_build_block(b);
    bool one_width = c.from.width == c.to.width;
    if (one_width && 1u << low_zeros(rw->p, n->arg[0], 2) >= c.to.width) {
        move_elements(&c);
    } else if (!one_width || offset != UINT64_MAX) {
        move_bytes(&c);
    } else {
        vyre_expr within = op(&c, VYRE_EXPR_REM, given, u32(&c, c.to.width));
        vyre_build_if(b, op(&c, VYRE_EXPR_EQ, within, u32(&c, 0)));
        move_elements(&c);
        vyre_build_else(b);
        move_bytes(&c);
        vyre_build_end(b);
    }
    vyre_build_end(b);
}

static bool replace(vyre_each *each, vyre_stmt s) {
    uint8_t kind = each->rw.p->stmts[s].op;
    if (kind == VYRE_STMT_ASYNC_LOAD || kind == VYRE_STMT_ASYNC_STORE) {
        replace_copy(each, s);
        return true;
    }
    return kind == VYRE_STMT_ASYNC_WAIT;
}

/* A destination that this program only writes is read now, where a copy writes part of an element.
 */
static void begin(vyre_each *each) {
    const vyre_program_view *p = each->rw.p;
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        if ((n->op == VYRE_STMT_ASYNC_LOAD || n->op == VYRE_STMT_ASYNC_STORE) &&
            p->decls[n->decl2].access == VYRE_ACCESS_WRITE) {
            vyre_build_access(each->rw.to, each->rw.decls[n->decl2], VYRE_ACCESS_FULL);
        }
    }
}

vyre_status vyre_lower_copies(vyre_program *program, const vyre_capabilities *can,
                              const vyre_allocator *a, vyre_program **out_program,
                              vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    if (vyre_can_stmt(can, VYRE_STMT_ASYNC_LOAD) ||
        !(p->stats.stmt_kinds >> VYRE_STMT_ASYNC_WAIT & 1)) {
        *out_program = vyre_program_retain(program);
        return VYRE_OK;
    }
    return vyre_each_rewrite(program, begin, replace, NULL, a, out_program, diag);
}
