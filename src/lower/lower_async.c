/* Copies that are pending where a launch ends. A source that can't change while the copy is pending
 * is read at the wait, from where it is:
 *
 *     async_load(s, d, o, n, "t");   ->   let k = o; let m = n;
 *     async_wait("t");               ->   async_load(s, d, k, m, "t"); async_wait("t");
 *
 * Otherwise the bytes go through a private array p, which is carried like any other:
 *
 *     async_load(s, d, o, n, "t");   ->   let k = o; let m = n;
 *                                         async_load(s, p, k, m, "t"); async_wait("t");
 *     async_wait("t");               ->   async_load(p, d, 0, m, "t_2"); async_wait("t_2");
 *
 * p is as large as the source, the destination or the most that n can be, whichever is least: what
 * the destination clips is not needed, and what lies beyond the source reads as zeros at the wait
 * as well. (Of a device without async copies, those that are pending at no barrier are replaced,
 * too: then each begin stands before its wait, and lower_copies.c makes loops of them.) Begin and
 * wait stand in one statement list, so k and m are visible at the wait and a barrier between them
 * lies on every path. */
#include "lower/lower_async.h"

#include <stdio.h>
#include <string.h>

#include "analysis/effects.h"
#include "base/diag.h"
#include "ir/builder.h"
#include "ir/each.h"
#include "ir/fold.h"
#include "ir/size.h"
#include "ir/waits.h"
#include "lower/capabilities.h"
#include "lower/rewrites.h"

typedef struct pending {
    vyre_stmt begin, wait;
    uint32_t count;         /* elements to keep in private memory; 0: the source does not change */
    vyre_type type;         /* of these */
    vyre_decl store;        /* in the result */
    vyre_expr size, offset; /* likewise: names or literals */
} pending;

typedef struct plan {
    const vyre_program *program;
    const vyre_program_view *p;
    const vyre_allocator *a;
    vyre_split_scope scope;
    bool is_every; /* copies that are pending at no barrier, too */
    vyre_effect_map *effects;
    uint32_t *waits; /* per statement: how many before it wait for the scope */
    uint64_t room;   /* bytes of private memory that are free */
    vyre_unique tags;
    VYRE_VEC(pending) list; /* ascending */
} plan;

static bool is_begin(uint8_t op) {
    return op == VYRE_STMT_ASYNC_LOAD || op == VYRE_STMT_ASYNC_STORE;
}

/* Whether the source may change while the copy is pending. */

typedef struct range {
    vyre_stmt first, end;
} range;

static void include(range *r, vyre_stmt first, vyre_stmt end) {
    r->first = first < r->first ? first : r->first;
    r->end = end > r->end ? end : r->end;
}

static bool is_loop(uint8_t op) {
    return op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE;
}

/* Back to the barrier that every lane passes last before it begins. A loop that is left backwards
 * comes round again. */
static void include_before(const plan *all, vyre_split_scope scope, vyre_stmt begin, range *r) {
    const vyre_program_view *p = all->p;
    vyre_stmt s = begin;
    while (s > p->entry && !vyre_waits_for(scope, p->stmts[s - 1].op)) {
        const vyre_stmt_node *n = &p->stmts[--s];
        if (n->op == VYRE_STMT_END) {
            s = n->match;
        } else if (n->op == VYRE_STMT_ELSE) {
            s = p->stmts[n->match].match;
        } else if (is_loop(n->op)) {
            include(r, s, n->match);
        }
    }
    include(r, s, begin);
}

/* On to the barrier that every lane passes first behind the wait. A jump out of the range and the
 * end of a loop lead to anywhere in the loop and to what follows it. */
static void include_behind(const plan *all, vyre_split_scope scope, vyre_stmt wait, range *r) {
    const vyre_program_view *p = all->p;
    vyre_stmt s = wait + 1, resume = 0;
    uint32_t depth = 0;
    for (; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        vyre_scope nests = (vyre_scope)vyre_stmt_info_of((vyre_stmt_op)n->op)->scope;
        bool jumps = n->op == VYRE_STMT_BREAK || n->op == VYRE_STMT_CONTINUE;
        if (jumps && n->match < wait) {
            include(r, n->match, s);
            vyre_stmt end = p->stmts[n->match].match;
            resume = end > resume ? end : resume;
        } else if (depth == 0 && vyre_waits_for(scope, n->op)) {
            if (resume <= s) {
                break;
            }
            s = resume;
        } else if (depth == 0 && nests == VYRE_SCOPE_ELSE) {
            s = n->match;
        } else if (depth == 0 && nests == VYRE_SCOPE_END) {
            include(r, n->match, s);
        } else {
            depth += nests == VYRE_SCOPE_OPEN;
            depth -= nests == VYRE_SCOPE_END;
        }
    }
    include(r, wait, s);
}

static bool has_barrier(const plan *all, vyre_stmt begin, vyre_stmt wait) {
    for (vyre_stmt s = begin; s < wait; s++) {
        if (vyre_waits_for(VYRE_SPLIT_SCOPE_WORKGROUP, all->p->stmts[s].op) ||
            vyre_waits_for(VYRE_SPLIT_SCOPE_GRID, all->p->stmts[s].op)) {
            return true;
        }
    }
    return false;
}

/* A statement by which some lane may change the source between this lane's begin and its wait, or
 * VYRE_NONE. Lanes run apart between barriers, so everything counts from the barrier before the
 * begin to that behind the wait: barriers of the grid, or those of the group if only it can write
 * there. Of a private source only what lies between the two; of any, if that holds no barrier and
 * no launch ends there: what other lanes write meanwhile is a race. */
static vyre_stmt find_change(const plan *all, vyre_stmt begin, vyre_stmt wait) {
    vyre_decl source = all->p->stmts[begin].decl;
    range r = {begin, wait};
    uint8_t role = all->p->decls[source].role;
    if (source == all->p->stmts[begin].decl2 && all->is_every) {
        return wait; /* one after the other, elements would be read that were just written */
    }
    bool others = has_barrier(all, begin, wait);
    if (role != VYRE_PRIVATE && (others || !all->is_every)) {
        vyre_split_scope scope =
            role == VYRE_WORKGROUP ? VYRE_SPLIT_SCOPE_WORKGROUP : VYRE_SPLIT_SCOPE_GRID;
        include_before(all, scope, begin, &r);
        include_behind(all, scope, wait, &r);
    }
    for (vyre_stmt s = r.first; s < r.end; s++) {
        if (vyre_effects_write(all->effects, s, source)) {
            return s;
        }
    }
    return VYRE_NONE;
}

/* How many bytes must be kept. */

static uint64_t bytes_of(const vyre_program_view *p, vyre_decl decl) {
    static const vyre_size_env nothing = {0};
    const vyre_decl_node *d = &p->decls[decl];
    uint64_t count;
    if (d->size == VYRE_NONE ||
        vyre_size_evaluate(p, d->size, &nothing, &count, NULL) != VYRE_SIZE_OK ||
        count > UINT32_MAX) {
        return UINT64_MAX;
    }
    return count * vyre_type_size((vyre_type)d->type);
}

/* The most that the u32 expression can be: its value if that is constant; min() and & of a constant
 * are not more than it. */
static uint32_t most(const vyre_program_view *p, vyre_expr root) {
    enum { LARGEST = 64 };
    uint64_t bound[LARGEST] = {0};
    bool exact[LARGEST] = {false};
    vyre_expr first = vyre_expr_first(p, root);
    for (vyre_expr e = first; e <= root && root - first < LARGEST; e++) {
        const vyre_expr_node *n = &p->exprs[e];
        uint32_t arity = vyre_expr_info_of((vyre_expr_op)n->op)->arity, at = e - first;
        uint64_t operands[3] = {0}, least = UINT32_MAX;
        bool known = n->op != VYRE_EXPR_REF || (p->decls[n->ref].role == VYRE_CONST &&
                                                vyre_fold_const(p, n->ref, &bound[at]));
        bool limits = n->type == VYRE_U32 && (n->op == VYRE_EXPR_MIN || n->op == VYRE_EXPR_BIT_AND);
        for (uint32_t i = 0; i < arity; i++) {
            operands[i] = bound[n->u.arg[i] - first];
            known &= exact[n->u.arg[i] - first];
            least = limits && operands[i] < least ? operands[i] : least;
        }
        if (n->op == VYRE_EXPR_LITERAL) {
            bound[at] = n->u.bits;
        } else if (n->op != VYRE_EXPR_REF) {
            known = known && vyre_fold(p, e, operands, &bound[at]);
        }
        exact[at] = known;
        bound[at] = known ? bound[at] : least;
    }
    return root - first < LARGEST ? (uint32_t)bound[root - first] : UINT32_MAX;
}

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Elements in which the bytes are kept: those of source and destination if they are of one width,
 * so that they move as a whole. */
static vyre_type type_to_keep(const plan *all, const vyre_stmt_node *n) {
    vyre_type type = (vyre_type)all->p->decls[n->decl].type;
    vyre_type to = (vyre_type)all->p->decls[n->decl2].type;
    return all->is_every && vyre_type_size(type) == vyre_type_size(to) ? type : VYRE_U32;
}

/* The copy's bytes in private memory, or 0 with an error if there is no room for them. */
static uint32_t find_room(plan *all, vyre_stmt begin, vyre_stmt change, vyre_diag *diag) {
    const vyre_program_view *p = all->p;
    const vyre_stmt_node *n = &p->stmts[begin];
    uint64_t bytes = smaller(bytes_of(p, n->decl2), most(p, n->arg[1]));
    bytes = smaller(bytes, bytes_of(p, n->decl));
    const uint32_t width = vyre_type_size(type_to_keep(all, n));
    const uint32_t unit = width < 4 ? 4 : width;
    bytes = bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
    if (bytes > all->room) {
        const char *source = p->decls[n->decl].name;
        char fix[sizeof diag->fix];
        (void)snprintf(fix, sizeof fix,
                       "wait for it before the barrier, write %.80s only behind the wait, or limit "
                       "the copy by min(size, %lu)",
                       source, (unsigned long)all->room);
        (void)vyre_fail_at(
            diag, VYRE_UNSUPPORTED, "", vyre_program_stmt_place(all->program, begin), fix,
            "the async copy \"%s\" is pending%s and line %lu may "
            "change its source %s meanwhile; %s would keep its bytes in "
            "private memory, which has room for %lu",
            n->text, all->is_every ? "" : " at a barrier",
            (unsigned long)vyre_program_stmt_place(all->program, change).line, source,
            all->is_every ? "lowering" : "splitting", (unsigned long)all->room);
        return 0;
    }
    all->room -= bytes;
    return (uint32_t)bytes;
}

static vyre_status add_pending(plan *all, vyre_stmt begin, vyre_stmt wait, vyre_diag *diag) {
    pending one = {.begin = begin, .wait = wait};
    vyre_stmt change = find_change(all, begin, wait);
    if (change != VYRE_NONE) {
        uint32_t bytes = find_room(all, begin, change, diag);
        if (bytes == 0) {
            return VYRE_UNSUPPORTED;
        }
        one.type = type_to_keep(all, &all->p->stmts[begin]);
        one.count = bytes / vyre_type_size(one.type);
    }
    return vyre_vec_push(all->a, &all->list, one) ? VYRE_OK : vyre_fail_memory(diag, "splitting");
}

/* Whether a launch may end at the statement, so that a copy begun before would be cut off: it waits
 * for the scope, or it leaves a loop around the copy in which lanes do. */
static bool ends_launch(const plan *all, vyre_stmt s, vyre_stmt begin) {
    const vyre_stmt_node *n = &all->p->stmts[s];
    if ((n->op != VYRE_STMT_BREAK && n->op != VYRE_STMT_CONTINUE) || n->match > begin) {
        return vyre_waits_for(all->scope, n->op);
    }
    return all->waits[all->p->stmts[n->match].match] > all->waits[n->match];
}

/* Tags are used once each, so a begin has one wait. Linear in the distances between them. */
static vyre_status find_pending(plan *all, vyre_diag *diag) {
    const vyre_program_view *p = all->p;
    vyre_status status = VYRE_OK;
    for (vyre_stmt begin = p->entry; begin < p->stmt_count && status == VYRE_OK; begin++) {
        bool crosses = all->is_every;
        for (vyre_stmt s = begin + 1; is_begin(p->stmts[begin].op) && s < p->stmt_count; s++) {
            crosses |= ends_launch(all, s, begin);
            if (p->stmts[s].op == VYRE_STMT_ASYNC_WAIT &&
                strcmp(p->stmts[s].text, p->stmts[begin].text) == 0) {
                status = crosses ? add_pending(all, begin, s, diag) : VYRE_OK;
                break;
            }
        }
    }
    return status;
}

/* Writing the result. */

static void declare(vyre_each *each) {
    plan *all = each->user;
    for (uint32_t i = 0; i < all->list.count; i++) {
        pending *one = &all->list.data[i];
        if (one->count > 0) {
            one->store =
                vyre_build_memory(each->rw.to, VYRE_PRIVATE, vyre_each_name(each, "_pending"),
                                  one->type, vyre_build_size(each->rw.to, one->count));
        }
    }
}

/* The copy `n` through `tag`, with offset and size as they were at its begin. */
static void copy(vyre_each *each, const pending *one, uint8_t op, vyre_decl from, vyre_decl to,
                 bool at_offset, const char *tag) {
    vyre_builder *b = each->rw.to;
    vyre_expr offset = at_offset ? one->offset : vyre_build_u32(b, 0), size = one->size;
    (op == VYRE_STMT_ASYNC_LOAD ? vyre_build_async_load
                                : vyre_build_async_store)(b, from, to, offset, size, tag);
    vyre_build_async_wait(b, tag);
}

/* What an operand is at the begin: a literal, or a name. */
static vyre_expr operand(vyre_each *each, vyre_expr from, const char *name) {
    vyre_rewriter *rw = &each->rw;
    vyre_expr value = vyre_rewrite_expr(rw, from);
    if (rw->p->exprs[from].op == VYRE_EXPR_LITERAL) {
        return value;
    }
    return vyre_build_var(rw->to, vyre_build_let(rw->to, vyre_each_name(each, name), value));
}

static void begin_copy(vyre_each *each, pending *one) {
    vyre_rewriter *rw = &each->rw;
    const vyre_stmt_node *n = &rw->p->stmts[one->begin];
    one->offset = operand(each, n->arg[0], "_offset");
    one->size = operand(each, n->arg[1], "_size");
    if (one->count > 0) {
        copy(each, one, VYRE_STMT_ASYNC_LOAD, rw->decls[n->decl], one->store,
             n->op == VYRE_STMT_ASYNC_LOAD, n->text);
    }
}

static void end_copy(vyre_each *each, const pending *one) {
    plan *all = each->user;
    vyre_rewriter *rw = &each->rw;
    const vyre_stmt_node *n = &rw->p->stmts[one->begin];
    vyre_decl to = rw->decls[n->decl2];
    if (one->count == 0) {
        copy(each, one, n->op, rw->decls[n->decl], to, true, n->text);
        return;
    }
    const char *tag = vyre_unique_name(&all->tags, n->text);
    if (!tag) {
        vyre_builder_fail_memory(rw->to);
        return;
    }
    copy(each, one, n->op, one->store, to, n->op == VYRE_STMT_ASYNC_STORE, tag);
}

static bool replace(vyre_each *each, vyre_stmt s) {
    plan *all = each->user;
    uint8_t op = each->rw.p->stmts[s].op;
    bool concerns = is_begin(op) || op == VYRE_STMT_ASYNC_WAIT;
    for (uint32_t i = 0; concerns && i < all->list.count; i++) {
        pending *one = &all->list.data[i];
        if (s == one->begin || s == one->wait) {
            vyre_builder_at(each->rw.to, vyre_program_stmt_place(each->rw.source, s));
            if (s == one->begin) {
                begin_copy(each, one);
            } else {
                end_copy(each, one);
            }
            return true;
        }
    }
    return false;
}

/* Everything that is known before the copies are looked at. */
static bool survey(plan *all) {
    const vyre_program_view *p = all->p;
    vyre_calls calls;
    bool ok = vyre_calls_init(&calls, all->program, all->a) == VYRE_OK;
    if (ok) {
        ok = vyre_effects_create(all->program, &calls, all->a, &all->effects) == VYRE_OK;
        vyre_calls_finish(&calls, all->a);
    }
    all->waits = vyre_alloc(all->a, p->stmt_count, sizeof *all->waits);
    uint32_t waits = 0;
    for (vyre_stmt s = 0; all->waits && s < p->stmt_count; s++) {
        all->waits[s] = waits;
        waits += vyre_waits_for(all->scope, p->stmts[s].op);
        if (ok && is_begin(p->stmts[s].op)) {
            ok = vyre_unique_name(&all->tags, p->stmts[s].text) != NULL;
        }
    }
    all->room = VYRE_LIMIT_PRIVATE_BYTES;
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        all->room -= p->decls[d].role == VYRE_PRIVATE ? bytes_of(p, d) : 0;
    }
    return ok && all->waits;
}

static vyre_status lower(vyre_program *program, vyre_split_scope scope, bool is_every,
                         const vyre_allocator *a, vyre_program **out_program, vyre_diag *diag) {
    plan all = {.program = program,
                .p = vyre_program_get(program),
                .scope = scope,
                .is_every = is_every,
                .a = a};
    if (!(all.p->stats.stmt_kinds >> VYRE_STMT_ASYNC_WAIT & 1)) {
        *out_program = vyre_program_retain(program);
        return VYRE_OK;
    }
    vyre_unique_init(&all.tags, a);
    vyre_status status =
        survey(&all) ? find_pending(&all, diag) : vyre_fail_memory(diag, "splitting");
    if (status == VYRE_OK && all.list.count == 0) {
        *out_program = vyre_program_retain(program);
    } else if (status == VYRE_OK) {
        status = vyre_each_rewrite(program, declare, replace, &all, a, out_program, diag);
    }
    vyre_vec_free(a, &all.list);
    vyre_free(a, all.waits, all.p->stmt_count, sizeof *all.waits);
    vyre_effects_destroy(all.effects);
    vyre_unique_finish(&all.tags);
    return status;
}

vyre_status vyre_lower_async(vyre_program *program, vyre_split_scope scope, const vyre_allocator *a,
                             vyre_program **out_program, vyre_diag *diag) {
    return lower(program, scope, false, a, out_program, diag);
}

vyre_status vyre_lower_pending(vyre_program *program, const vyre_capabilities *can,
                               const vyre_allocator *a, vyre_program **out_program,
                               vyre_diag *diag) {
    if (vyre_can_stmt(can, VYRE_STMT_ASYNC_LOAD)) {
        *out_program = vyre_program_retain(program);
        return VYRE_OK;
    }
    return lower(program, VYRE_SPLIT_SCOPE_WORKGROUP, true, a, out_program, diag);
}
