/* Atomics on floats, on a device that has them on integers only: the memory becomes memory of the
 * integers with the same bits.
 *
 *     b[i]                          ->  bitcast<f32>(b[i])
 *     b[i] = x                      ->  b[i] = bitcast<u32>(x)
 *     atomic_load, store, exchange  ->  the same of the bits
 *     old = atomic_add(b[i], v)     ->  let bits = atomic_load(b[i]);
 *                                       while (true) {
 *                                           let seen = atomic_cas(b[i], bits, the bits of the sum);
 *                                           if (seen == bits) { break; }
 *                                           bits = seen;
 *                                       }
 *                                       let old = bitcast<f32>(bits);
 *
 * Right because a compare-exchange that finds what it expects does all at once, and what it finds
 * otherwise is what another lane left, so some lane gets on; bits rather than values are compared,
 * so that a NaN ends the loop and -0 is not taken for 0. Outside of memory load and exchange give
 * 0: the loop ends, and old is 0. Elements keep their size, so nobody outside notices. Memory that
 * is swapped or gathered stays of one type; memory that a collective computes with stays as it is,
 * and then the device is told to lack the atomic. */
#include "base/alloc.h"
#include "base/diag.h"
#include "ir/builder.h"
#include "lower/capabilities.h"
#include "lower/hoist.h"
#include "lower/rewrites.h"

typedef struct memories {
    bool *changes; /* per declaration */
} memories;

static vyre_type bits_of(uint8_t type) {
    return type == VYRE_F32 ? VYRE_U32 : VYRE_U64;
}

static bool is_joined(const vyre_stmt_node *n) {
    return n->op == VYRE_STMT_SWAP || n->op == VYRE_STMT_ALL_GATHER;
}

static void mark_lacking(const vyre_program_view *p, const vyre_capabilities *can, bool *changes) {
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        if (n->op != VYRE_STMT_ATOMIC) {
            continue;
        }
        const vyre_decl_node *d = &p->decls[n->decl];
        changes[n->decl] |= vyre_type_is_float((vyre_type)d->type) &&
                            !vyre_can_atomic(can, n->sub, d->type, d->role);
    }
}

/* Whether some memory changes. */
static bool survey(const vyre_program_view *p, const vyre_capabilities *can, bool *changes) {
    bool more = true, any = false;
    mark_lacking(p, can, changes);
    while (more) {
        more = false;
        for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
            const vyre_stmt_node *n = &p->stmts[s];
            if (is_joined(n) && changes[n->decl] != changes[n->decl2]) {
                changes[n->decl] = changes[n->decl2] = more = true;
            }
        }
    }
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        if ((n->op == VYRE_STMT_ALL_REDUCE && changes[n->decl]) ||
            (n->op == VYRE_STMT_REDUCE_SCATTER && (changes[n->decl] || changes[n->decl2]))) {
            return false;
        }
    }
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        any |= changes[d];
    }
    return any;
}

/* Rewriting */

static bool concerns(const vyre_program_view *p, vyre_expr expr, const void *user) {
    const memories *all = user;
    return p->exprs[expr].op == VYRE_EXPR_LOAD && all->changes[p->exprs[expr].ref];
}

static vyre_expr replace(vyre_each *each, vyre_expr expr, const vyre_expr *operands,
                         const void *user) {
    const vyre_expr_node *e = &each->rw.p->exprs[expr];
    (void)user;
    return vyre_build_bitcast(each->rw.to, (vyre_type)e->type,
                              vyre_build_load(each->rw.to, each->rw.decls[e->ref], operands[0]));
}

static void begin(vyre_each *each, const void *user) {
    const memories *all = user;
    const vyre_program_view *p = each->rw.p;
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        if (all->changes[d]) {
            vyre_builder_set_decl_type(each->rw.to, each->rw.decls[d], bits_of(p->decls[d].type));
        }
    }
}

/* The place of the statement's value. */
static void give(vyre_each *each, const vyre_stmt_node *n, vyre_expr bits) {
    vyre_rewriter *rw = &each->rw;
    if (n->var != VYRE_NONE) {
        const vyre_var_node *var = &rw->p->vars[n->var];
        rw->vars[n->var] = vyre_build_let(rw->to, var->name,
                                          vyre_build_bitcast(rw->to, (vyre_type)var->type, bits));
    }
}

/* load, store, exchange */
static void direct(vyre_each *each, const vyre_stmt_node *n, vyre_expr index, vyre_expr bits) {
    vyre_builder *to = each->rw.to;
    const char *name = n->var == VYRE_NONE ? NULL : vyre_each_name(each, "_bits");
    const vyre_var old =
        vyre_build_atomic(to, name, (vyre_atomic_op)n->sub, each->rw.decls[n->decl], index,
                          VYRE_NONE, bits, (vyre_ordering)n->ordering);
    if (name) {
        give(each, n, vyre_build_var(to, old));
    }
}

/* add, min, max */
static void retried(vyre_each *each, const vyre_stmt_node *n, vyre_expr index, vyre_expr value) {
    vyre_builder *to = each->rw.to;
    const vyre_type type = (vyre_type)each->rw.p->decls[n->decl].type,
                    word = bits_of(each->rw.p->decls[n->decl].type);
    const vyre_decl memory = each->rw.decls[n->decl];
    const vyre_expr_op op = n->sub == VYRE_ATOMIC_ADD   ? VYRE_EXPR_ADD
                            : n->sub == VYRE_ATOMIC_MIN ? VYRE_EXPR_MIN
                                                        : VYRE_EXPR_MAX;
    const vyre_var at = vyre_build_let(to, vyre_each_name(each, "_at"), index);
    const vyre_var v = vyre_build_let(to, vyre_each_name(each, "_v"), value);
    const vyre_var bits = vyre_build_let(
        to, vyre_each_name(each, "_bits"),
        vyre_build_var(to, vyre_build_atomic(to, vyre_each_name(each, "_first"), VYRE_ATOMIC_LOAD,
                                             memory, vyre_build_var(to, at), VYRE_NONE, VYRE_NONE,
                                             VYRE_RELAXED)));
    vyre_build_while(to, vyre_build_literal(to, VYRE_BOOL, 1));
    const vyre_expr next = vyre_build_bitcast(
        to, word,
        vyre_build_op(to, op, vyre_build_bitcast(to, type, vyre_build_var(to, bits)),
                      vyre_build_var(to, v), VYRE_NONE));
    const vyre_expr seen = vyre_build_var(
        to, vyre_build_atomic(to, vyre_each_name(each, "_seen"), VYRE_ATOMIC_CAS, memory,
                              vyre_build_var(to, at), vyre_build_var(to, bits), next,
                              (vyre_ordering)n->ordering));
    vyre_build_if(to, vyre_build_op(to, VYRE_EXPR_EQ, seen, vyre_build_var(to, bits), VYRE_NONE));
    vyre_build_break(to);
    vyre_build_end(to);
    vyre_build_assign(to, bits, seen);
    vyre_build_end(to);
    give(each, n, vyre_build_var(to, bits));
}

static bool replace_stmt(vyre_each *each, vyre_stmt stmt, const void *user) {
    const memories *all = user;
    vyre_rewriter *rw = &each->rw;
    const vyre_stmt_node *n = &rw->p->stmts[stmt];
    if ((n->op != VYRE_STMT_STORE && n->op != VYRE_STMT_ATOMIC) || !all->changes[n->decl]) {
        return false;
    }
    const vyre_type word = bits_of(rw->p->decls[n->decl].type);
    const vyre_expr index = vyre_rewrite_expr(rw, n->arg[0]);
    const vyre_expr value = n->arg[1] == VYRE_NONE ? VYRE_NONE : vyre_rewrite_expr(rw, n->arg[1]);
    vyre_builder_at(rw->to, vyre_program_stmt_place(rw->source, stmt));
    if (n->op == VYRE_STMT_STORE) {
        vyre_build_store(rw->to, rw->decls[n->decl], index,
                         vyre_build_bitcast(rw->to, word, value));
    } else if (n->sub == VYRE_ATOMIC_ADD || n->sub == VYRE_ATOMIC_MIN ||
               n->sub == VYRE_ATOMIC_MAX) {
        retried(each, n, index, value);
    } else {
        direct(each, n, index,
               value == VYRE_NONE ? VYRE_NONE : vyre_build_bitcast(rw->to, word, value));
    }
    return true;
}

vyre_status vyre_lower_atomics(vyre_program *program, const vyre_capabilities *can,
                               const vyre_allocator *a, vyre_program **out_program,
                               vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    memories all = {.changes = vyre_alloc_zeroed(a, p->decl_count, sizeof(bool))};
    if (!all.changes) {
        return vyre_fail_memory(diag, "lowering");
    }
    static const vyre_hoist_rewrite rewrite = {concerns, replace, begin, replace_stmt};
    vyre_status status = VYRE_OK;
    if (survey(p, can, all.changes)) {
        status = vyre_hoist(program, &rewrite, &all, true, a, out_program, diag);
    } else {
        *out_program = vyre_program_retain(program);
    }
    vyre_free(a, all.changes, p->decl_count, sizeof(bool));
    return status;
}
