/* Copies that are pending where a launch ends:
 *
 *     async_load(s, d, o, n, "t");   ->   let m = n;  async_load(s, p, o, n, "t"); async_wait("t");
 *     async_wait("t");               ->   async_load(p, d, 0, m, "t2");  async_wait("t2");
 *
 * p has the bytes of d: what lies beyond would be clipped at delivery anyway. Begin and wait stand
 * in one statement list, so m is visible at the wait and a barrier between them lies on every path.
 */
#include "pass/lower_async.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/mutant.h"
#include "ir/size.h"
#include "pass/blocks.h"
#include "pass/each.h"

typedef struct pending {
    vyre_stmt begin, wait;
    uint32_t capacity; /* bytes */
    vyre_decl store;   /* in the result */
    vyre_var size, offset;
} pending;

typedef struct plan {
    vyre_split_scope scope;
    VYRE_VEC(pending) list;
} plan;

static bool is_begin(uint8_t op) {
    return op == VYRE_STMT_ASYNC_LOAD || op == VYRE_STMT_ASYNC_STORE;
}

static vyre_status add_pending(plan *to, const vyre_program *program, vyre_stmt begin,
                               vyre_stmt wait, const vyre_allocator *a, vyre_diag *diag) {
    static const vyre_size_env nothing = {0};
    const vyre_program_view *p = vyre_program_get(program);
    const vyre_decl_node *d = &p->decls[p->stmts[begin].decl2];
    uint64_t count = 0;
    bool constant = d->size != VYRE_NONE &&
                    vyre_size_evaluate(p, d->size, &nothing, &count, NULL) == VYRE_SIZE_OK;
    uint64_t bytes = count * vyre_type_size((vyre_type)d->type);
    if (!constant || count > VYRE_LIMIT_PRIVATE_BYTES || bytes > VYRE_LIMIT_PRIVATE_BYTES) {
        return vyre_fail_at(diag, VYRE_UNSUPPORTED, "", vyre_program_stmt_place(program, begin),
                            "wait for it before the barrier, or copy in smaller pieces",
                            "the async copy \"%s\" to %s is pending at a barrier; splitting "
                            "carries such copies only to memory of a constant size of at most %d "
                            "bytes",
                            p->stmts[begin].text, d->name, (int)VYRE_LIMIT_PRIVATE_BYTES);
    }
    pending one = {.begin = begin, .wait = wait, .capacity = (uint32_t)bytes};
    return vyre_vec_push(a, &to->list, one) ? VYRE_OK : vyre_fail_memory(diag, "splitting");
}

/* Whether a launch may end at the statement, so that a copy begun before would be cut off: it waits
 * for the scope, or it leaves a loop around the copy in which lanes do. */
static bool ends_launch(const vyre_program_view *p, vyre_split_scope scope, vyre_stmt s,
                        vyre_stmt begin) {
    const vyre_stmt_node *n = &p->stmts[s];
    if ((n->op != VYRE_STMT_BREAK && n->op != VYRE_STMT_CONTINUE) || n->match > begin) {
        return vyre_waits_for(scope, n->op);
    }
    for (vyre_stmt in = n->match; in < p->stmts[n->match].match; in++) {
        if (vyre_waits_for(scope, p->stmts[in].op)) {
            return true;
        }
    }
    return false;
}

/* Tags are used once each, so a begin has one wait. Quadratic in the number of copies only. */
static vyre_status find_pending(plan *to, const vyre_program *program, const vyre_allocator *a,
                                vyre_diag *diag) {
    const vyre_program_view *p = vyre_program_get(program);
    vyre_status status = VYRE_OK;
    for (vyre_stmt begin = p->entry; begin < p->stmt_count && status == VYRE_OK; begin++) {
        if (!is_begin(p->stmts[begin].op)) {
            continue;
        }
        bool crosses = false;
        for (vyre_stmt s = begin + 1; s < p->stmt_count; s++) {
            crosses =
                crosses || VYRE_MUTANT(lower_async_no_jumps, ends_launch(p, to->scope, s, begin),
                                       vyre_waits_for(to->scope, p->stmts[s].op));
            if (p->stmts[s].op == VYRE_STMT_ASYNC_WAIT &&
                strcmp(p->stmts[s].text, p->stmts[begin].text) == 0) {
                status = crosses ? add_pending(to, program, begin, s, a, diag) : VYRE_OK;
                break;
            }
        }
    }
    return status;
}

static void declare(vyre_each *each) {
    plan *all = each->user;
    for (uint32_t i = 0; i < all->list.count; i++) {
        pending *one = &all->list.data[i];
        one->store = vyre_build_memory(each->rw.to, VYRE_PRIVATE, vyre_each_name(each, "_pending"),
                                       VYRE_U8, vyre_build_size(each->rw.to, one->capacity));
    }
}

static void capture(vyre_each *each, pending *one) {
    vyre_rewriter *rw = &each->rw;
    vyre_builder *b = rw->to;
    const vyre_stmt_node *n = &rw->p->stmts[one->begin];
    vyre_expr offset = vyre_rewrite_expr(rw, n->arg[0]);
    vyre_expr size = vyre_rewrite_expr(rw, n->arg[1]);
    one->offset = vyre_build_let(b, vyre_each_name(each, "_offset"), offset);
    one->size = vyre_build_let(b, vyre_each_name(each, "_size"), size);
    vyre_expr from =
        n->op == VYRE_STMT_ASYNC_LOAD ? vyre_build_var(b, one->offset) : vyre_build_u32(b, 0);
    vyre_build_async_load(b, rw->decls[n->decl], one->store, from, vyre_build_var(b, one->size),
                          n->text);
    vyre_build_async_wait(b, n->text);
}

static void deliver(vyre_each *each, const pending *one) {
    vyre_rewriter *rw = &each->rw;
    vyre_builder *b = rw->to;
    const vyre_stmt_node *n = &rw->p->stmts[one->begin];
    char tag[VYRE_LIMIT_NAME + 1];
    (void)snprintf(tag, sizeof tag, "%.240s (delivery)", n->text);
    if (n->op == VYRE_STMT_ASYNC_LOAD) {
        vyre_build_async_load(b, one->store, rw->decls[n->decl2], vyre_build_u32(b, 0),
                              vyre_build_var(b, one->size), tag);
    } else {
        vyre_build_async_store(b, one->store, rw->decls[n->decl2], vyre_build_var(b, one->offset),
                               vyre_build_var(b, one->size), tag);
    }
    vyre_build_async_wait(b, tag);
}

static bool replace(vyre_each *each, vyre_stmt s) {
    plan *all = each->user;
    for (uint32_t i = 0; i < all->list.count; i++) {
        pending *one = &all->list.data[i];
        if (s == one->begin || s == one->wait) {
            vyre_builder_at(each->rw.to, vyre_program_stmt_place(each->rw.source, s));
            if (s == one->begin) {
                capture(each, one);
            } else {
                deliver(each, one);
            }
            return true;
        }
    }
    return false;
}

vyre_status vyre_lower_async(vyre_program *program, vyre_split_scope scope, const vyre_allocator *a,
                             vyre_program **out_program, vyre_diag *diag) {
    plan all = {.scope = scope};
    vyre_status status = find_pending(&all, program, a, diag);
    if (status == VYRE_OK && all.list.count == 0) {
        *out_program = vyre_program_retain(program);
    } else if (status == VYRE_OK) {
        status = vyre_each_rewrite(program, declare, replace, &all, a, out_program, diag);
    }
    vyre_vec_free(a, &all.list);
    return status;
}
