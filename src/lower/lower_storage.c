/* Storage. A load of a bool, f16 or bf16 does not show the bits that are there: any nonzero word is
 * true, and a NaN is a NaN. Copies must keep them, so memory that is copied becomes memory of the
 * integers that its elements are made of, and conversions are written out:
 *
 *     b[i]      ->  b[i] != 0                        b[i] = c   ->  b[i] = select(c, 1, 0)
 *     h[i]      ->  the f32 with these bits          h[i] = x   ->  the bits of x, rounded to even
 *
 * The same for types that a device does not have. Elements keep their size, so nobody outside
 * notices. Memory that a collective joins stays of one type. */
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "ir/builder.h"
#include "lower/capabilities.h"
#include "lower/hoist.h"
#include "lower/rewrites.h"
#include "lower/sequence.h"

typedef struct storage {
    const vyre_capabilities *can;
    bool *changes; /* per declaration */
} storage;

static vyre_type integer_of(uint8_t type) {
    return type == VYRE_BOOL ? VYRE_U32 : VYRE_U16;
}

static bool hides_bits(uint8_t type) {
    return type == VYRE_BOOL || type == VYRE_F16 || type == VYRE_BF16;
}

/* Finding */

static bool mark(const vyre_program_view *p, bool *changes, vyre_decl decl) {
    bool is_new = hides_bits(p->decls[decl].type) && !changes[decl];
    changes[decl] |= is_new;
    return is_new;
}

static bool survey(const vyre_program_view *p, const vyre_capabilities *can, bool *changes) {
    bool any = false, more = true;
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        const vyre_decl_node *n = &p->decls[d];
        if (vyre_role_is_memory((vyre_role)n->role) && n->type != VYRE_BOOL &&
            !vyre_can_type(can, n->type)) {
            any |= mark(p, changes, d);
        }
    }
    while (more) {
        more = false;
        for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
            const vyre_stmt_node *n = &p->stmts[s];
            bool copies = n->op == VYRE_STMT_ASYNC_LOAD || n->op == VYRE_STMT_ASYNC_STORE;
            bool joins = n->op == VYRE_STMT_ALL_GATHER || n->op == VYRE_STMT_REDUCE_SCATTER ||
                         n->op == VYRE_STMT_SWAP;
            if ((copies && !vyre_can_stmt(can, n->op)) ||
                (joins && (changes[n->decl] || changes[n->decl2]))) {
                more |= mark(p, changes, n->decl);
                more |= mark(p, changes, n->decl2);
            }
        }
        any |= more;
    }
    return any;
}

/* Conversions of the bits of a half, u32, to f32 and back. */

typedef vyre_sequence S;

static uint32_t u32(S *s, uint32_t value) {
    return vyre_sequence_literal(s, VYRE_U32, value);
}

static uint32_t op2(S *s, vyre_expr_op op, uint32_t x, uint32_t y) {
    return vyre_sequence_op(s, op, x, y, 0);
}

static uint32_t select(S *s, uint32_t c, uint32_t x, uint32_t y) {
    return vyre_sequence_op(s, VYRE_EXPR_SELECT, c, x, y);
}

/* Subnormals are multiples of 2^-24, exact in f32. */
static uint32_t from_f16(S *s, uint32_t bits) {
    uint32_t sign =
        op2(s, VYRE_EXPR_SHL, op2(s, VYRE_EXPR_BIT_AND, bits, u32(s, 0x8000)), u32(s, 16));
    uint32_t rest = op2(s, VYRE_EXPR_BIT_AND, bits, u32(s, 0x7fff));
    uint32_t shifted = op2(s, VYRE_EXPR_SHL, rest, u32(s, 13));
    uint32_t tiny = vyre_sequence_bitcast(
        s, VYRE_U32,
        op2(s, VYRE_EXPR_MUL,
            vyre_sequence_cast(s, VYRE_F32, vyre_sequence_bitcast(s, VYRE_I32, rest)),
            vyre_sequence_literal(s, VYRE_F32, UINT32_C(0x33800000))));
    uint32_t normal = op2(s, VYRE_EXPR_ADD, shifted, u32(s, 112u << 23));
    uint32_t special = op2(s, VYRE_EXPR_BIT_OR, shifted, u32(s, 0x7f800000));
    uint32_t finite = select(s, op2(s, VYRE_EXPR_LT, rest, u32(s, 0x400)), tiny, normal);
    uint32_t value = select(s, op2(s, VYRE_EXPR_LT, rest, u32(s, 0x7c00)), finite, special);
    return vyre_sequence_bitcast(s, VYRE_F32, op2(s, VYRE_EXPR_BIT_OR, value, sign));
}

static uint32_t from_bf16(S *s, uint32_t bits) {
    return vyre_sequence_bitcast(s, VYRE_F32, op2(s, VYRE_EXPR_SHL, bits, u32(s, 16)));
}

/* Adding half of the last place that stays, a little less if that is even, and cutting. */
static uint32_t round_at(S *s, uint32_t bits, uint32_t shift) {
    uint32_t odd = op2(s, VYRE_EXPR_BIT_AND, op2(s, VYRE_EXPR_SHR, bits, u32(s, shift)), u32(s, 1));
    uint32_t below = u32(s, (1u << (shift - 1)) - 1);
    return op2(s, VYRE_EXPR_ADD, bits, op2(s, VYRE_EXPR_ADD, below, odd));
}

/* Below 2^-14 the f32 addition of 0.5 rounds to a multiple of 2^-24; from 65520 on it is
 * infinity. */
static uint32_t to_f16(S *s, uint32_t x) {
    uint32_t bits = vyre_sequence_bitcast(s, VYRE_U32, x);
    uint32_t magnitude = op2(s, VYRE_EXPR_BIT_AND, bits, u32(s, 0x7fffffff));
    uint32_t sign =
        op2(s, VYRE_EXPR_BIT_AND, op2(s, VYRE_EXPR_SHR, bits, u32(s, 16)), u32(s, 0x8000));
    uint32_t half = vyre_sequence_literal(s, VYRE_F32, UINT32_C(0x3f000000));
    uint32_t sum = op2(s, VYRE_EXPR_ADD, vyre_sequence_bitcast(s, VYRE_F32, magnitude), half);
    uint32_t tiny =
        op2(s, VYRE_EXPR_SUB, vyre_sequence_bitcast(s, VYRE_U32, sum), u32(s, 0x3f000000));
    uint32_t rounded = op2(s, VYRE_EXPR_SUB, round_at(s, magnitude, 13), u32(s, 112u << 23));
    uint32_t normal = op2(s, VYRE_EXPR_SHR, rounded, u32(s, 13));
    uint32_t finite = select(s, op2(s, VYRE_EXPR_LT, magnitude, u32(s, 0x38800000)), tiny, normal);
    uint32_t value =
        select(s, op2(s, VYRE_EXPR_LT, magnitude, u32(s, 0x477ff000)), finite, u32(s, 0x7c00));
    uint32_t is_nan = op2(s, VYRE_EXPR_LT, u32(s, 0x7f800000), magnitude);
    return select(s, is_nan, u32(s, 0x7e00), op2(s, VYRE_EXPR_BIT_OR, sign, value));
}

static uint32_t to_bf16(S *s, uint32_t x) {
    uint32_t bits = vyre_sequence_bitcast(s, VYRE_U32, x);
    uint32_t magnitude = op2(s, VYRE_EXPR_BIT_AND, bits, u32(s, 0x7fffffff));
    uint32_t is_nan = op2(s, VYRE_EXPR_LT, u32(s, 0x7f800000), magnitude);
    uint32_t value = op2(s, VYRE_EXPR_SHR, round_at(s, bits, 16), u32(s, 16));
    return select(s, is_nan, u32(s, 0x7fc0), value);
}

static vyre_expr convert(vyre_each *each, uint8_t type, bool loads, vyre_expr x) {
    S s = {.count = 0};
    uint32_t in = vyre_sequence_argument(&s, 0);
    uint32_t value = type == VYRE_F16 ? (loads ? from_f16 : to_f16)(&s, in)
                                      : (loads ? from_bf16 : to_bf16)(&s, in);
    return vyre_sequence_emit(&s, each, type == VYRE_F16 ? "_f16" : "_bf16", &x, value);
}

/* Rewriting */

static bool narrows(const storage *all, const vyre_expr_node *e, const vyre_program_view *p) {
    return e->op == VYRE_EXPR_CAST && (e->sub == VYRE_F16 || e->sub == VYRE_BF16) &&
           !vyre_can_type(all->can, e->sub) && p->exprs[e->u.arg[0]].type == VYRE_F32;
}

static bool concerns(const vyre_program_view *p, vyre_expr expr, const void *user) {
    const storage *all = user;
    const vyre_expr_node *e = &p->exprs[expr];
    return (e->op == VYRE_EXPR_LOAD && all->changes[e->ref]) || narrows(all, e, p);
}

static vyre_expr replace(vyre_each *each, vyre_expr expr, const vyre_expr *operands,
                         const void *user) {
    const vyre_expr_node *e = &each->rw.p->exprs[expr];
    vyre_builder *to = each->rw.to;
    (void)user;
    if (e->op == VYRE_EXPR_CAST) {
        return convert(each, e->sub, true, convert(each, e->sub, false, operands[0]));
    }
    uint8_t type = each->rw.p->decls[e->ref].type;
    vyre_expr bits = vyre_build_load(to, each->rw.decls[e->ref], operands[0]);
    return type == VYRE_BOOL
               ? vyre_build_op(to, VYRE_EXPR_NE, bits, vyre_build_u32(to, 0), VYRE_NONE)
               : convert(each, type, true, bits);
}

static void begin(vyre_each *each, const void *user) {
    const storage *all = user;
    const vyre_program_view *p = each->rw.p;
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        if (all->changes[d]) {
            vyre_builder_set_decl_type(each->rw.to, each->rw.decls[d],
                                       integer_of(p->decls[d].type));
        }
    }
}

static bool replace_store(vyre_each *each, vyre_stmt s, const void *user) {
    const storage *all = user;
    vyre_rewriter *rw = &each->rw;
    const vyre_stmt_node *n = &rw->p->stmts[s];
    vyre_builder *to = rw->to;
    if (n->op != VYRE_STMT_STORE || !all->changes[n->decl]) {
        return false;
    }
    uint8_t type = rw->p->decls[n->decl].type;
    vyre_expr index = vyre_rewrite_expr(rw, n->arg[0]), value = vyre_rewrite_expr(rw, n->arg[1]);
    vyre_builder_at(to, vyre_program_stmt_place(rw->source, s));
    vyre_expr bits = type == VYRE_BOOL ? vyre_build_op(to, VYRE_EXPR_SELECT, value,
                                                       vyre_build_u32(to, 1), vyre_build_u32(to, 0))
                                       : convert(each, type, false, value);
    vyre_build_store(to, rw->decls[n->decl], index, bits);
    return true;
}

vyre_status vyre_lower_storage(vyre_program *program, const vyre_capabilities *can,
                               const vyre_allocator *a, vyre_program **out_program,
                               vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    storage all = {.can = can, .changes = vyre_alloc_zeroed(a, p->decl_count, sizeof(bool))};
    if (!all.changes) {
        return vyre_fail_memory(diag, "lowering");
    }
    bool any = survey(p, can, all.changes);
    static const vyre_hoist_rewrite rewrite = {concerns, replace, begin, replace_store};
    vyre_status status = vyre_hoist(program, &rewrite, &all, any, a, out_program, diag);
    vyre_free(a, all.changes, p->decl_count, sizeof(bool));
    return status;
}
