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
#include "base/intern.h"
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

typedef struct range {
    vyre_stmt first, end;
} range;

/* Statements that a walk past all plain statements finds; the same from all of these. */
typedef struct reach {
    bool is_known;
    uint32_t special; /* where it began, by number of the statements that are not plain */
    range found;
} reach;

typedef struct plan {
    const vyre_program *program;
    const vyre_program_view *p;
    const vyre_allocator *a;
    vyre_split_scope scope;
    bool is_every; /* copies that are pending at no barrier, too */
    /* Per statement, and one past the last: */
    uint32_t *waits;    /* how many before it wait for the scope */
    uint32_t *leaves;   /* how many before it leave a loop in which lanes do */
    uint32_t *barriers; /* how many before it wait for anybody */
    uint32_t *special;  /* how many before it are not plain: they jump, open, close or wait */
    uint32_t *wait_of;  /* of a begin: its wait */
    uint32_t *number;   /* of a begin or wait: which pending one, plus 1; or 0 */
    uint32_t *writers, *first_writer; /* statements that write a declaration, ascending */
    uint32_t writer_count;
    reach before[2], behind[2]; /* by scope: what was found last */
    uint64_t room;              /* bytes of private memory that are free */
    vyre_unique tags;
    VYRE_VEC(pending) list; /* ascending */
} plan;

static bool is_begin(uint8_t op) {
    return op == VYRE_STMT_ASYNC_LOAD || op == VYRE_STMT_ASYNC_STORE;
}

/* Whether the source may change while the copy is pending. */

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
    include(r, s, s);
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
    include(r, s, s);
}

/* Copies that begin one after the other, or are awaited so, are walked from once. */
static void include_reach(plan *all, vyre_split_scope scope, vyre_stmt begin, vyre_stmt wait,
                          range *r) {
    reach *before = &all->before[scope], *behind = &all->behind[scope];
    if (!before->is_known || before->special != all->special[begin]) {
        *before = (reach){true, all->special[begin], {begin, begin}};
        include_before(all, scope, begin, &before->found);
    }
    if (!behind->is_known || behind->special != all->special[wait]) {
        *behind = (reach){true, all->special[wait], {wait, wait}};
        include_behind(all, scope, wait, &behind->found);
    }
    include(r, before->found.first, before->found.end);
    include(r, behind->found.first, behind->found.end);
}

/* The first statement of the range that writes the declaration, or VYRE_NONE. */
static vyre_stmt first_write(const plan *all, vyre_decl decl, range r) {
    uint32_t low = all->first_writer[decl], end = all->first_writer[decl + 1], high = end;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (all->writers[middle] < r.first) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < end && all->writers[low] < r.end ? all->writers[low] : VYRE_NONE;
}

/* A statement by which some lane may change the source between this lane's begin and its wait, or
 * VYRE_NONE. Lanes run apart between barriers, so everything counts from the barrier before the
 * begin to that behind the wait: barriers of the grid, or those of the group if only it can write
 * there. Of a private source only what lies between the two; of any, if that holds no barrier and
 * no launch ends there: what other lanes write meanwhile is a race. */
static vyre_stmt find_change(plan *all, vyre_stmt begin, vyre_stmt wait) {
    vyre_decl source = all->p->stmts[begin].decl;
    range r = {begin, wait};
    uint8_t role = all->p->decls[source].role;
    if (source == all->p->stmts[begin].decl2 && all->is_every) {
        return wait; /* one after the other, elements would be read that were just written */
    }
    const bool others = all->barriers[wait] > all->barriers[begin];
    if (role != VYRE_PRIVATE && (others || !all->is_every)) {
        vyre_split_scope scope =
            role == VYRE_WORKGROUP ? VYRE_SPLIT_SCOPE_WORKGROUP : VYRE_SPLIT_SCOPE_GRID;
        include_reach(all, scope, begin, wait, &r);
    }
    return first_write(all, source, r);
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

/* Whether a launch may end between the two, so that the copy would be cut off: lanes wait for the
 * scope, or leave a loop around the copy in which they do. (If the loop lies between the two, they
 * wait there, too.) */
static bool is_cut_off(const plan *all, vyre_stmt begin, vyre_stmt wait) {
    return all->waits[wait] > all->waits[begin] || all->leaves[wait] > all->leaves[begin];
}

static vyre_status find_pending(plan *all, vyre_diag *diag) {
    const vyre_program_view *p = all->p;
    vyre_status status = VYRE_OK;
    for (vyre_stmt begin = p->entry; begin < p->stmt_count && status == VYRE_OK; begin++) {
        const vyre_stmt wait = is_begin(p->stmts[begin].op) ? all->wait_of[begin] : VYRE_NONE;
        if (wait == VYRE_NONE || !(all->is_every || is_cut_off(all, begin, wait))) {
            continue;
        }
        status = add_pending(all, begin, wait, diag);
        all->number[begin] = all->number[wait] = all->list.count;
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
    const uint32_t number = all->number[s];
    if (number == 0) {
        return false;
    }
    pending *one = &all->list.data[number - 1];
    vyre_builder_at(each->rw.to, vyre_program_stmt_place(each->rw.source, s));
    if (s == one->begin) {
        begin_copy(each, one);
    } else {
        end_copy(each, one);
    }
    return true;
}

/* Everything that is known before the copies are looked at. */

static void count_statements(plan *all) {
    const vyre_program_view *p = all->p;
    for (vyre_stmt s = 0; s < p->stmt_count; s++) {
        const uint8_t op = p->stmts[s].op;
        const bool waits = vyre_waits_for(VYRE_SPLIT_SCOPE_WORKGROUP, op) ||
                           vyre_waits_for(VYRE_SPLIT_SCOPE_GRID, op);
        const bool jumps = op == VYRE_STMT_BREAK || op == VYRE_STMT_CONTINUE;
        all->waits[s + 1] = all->waits[s] + vyre_waits_for(all->scope, op);
        all->barriers[s + 1] = all->barriers[s] + waits;
        all->special[s + 1] =
            all->special[s] +
            (waits || jumps || vyre_stmt_info_of((vyre_stmt_op)op)->scope != VYRE_SCOPE_NONE);
    }
    for (vyre_stmt s = 0; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        const bool jumps = n->op == VYRE_STMT_BREAK || n->op == VYRE_STMT_CONTINUE;
        all->leaves[s + 1] =
            all->leaves[s] + (jumps && all->waits[p->stmts[n->match].match] > all->waits[n->match]);
    }
}

/* A begin has one wait, behind it; where a function was inlined twice, the next of its tag. */
static bool match_tags(plan *all) {
    const vyre_program_view *p = all->p;
    vyre_intern tags;
    VYRE_VEC(vyre_stmt) begins = {0}; /* the last of each tag */
    bool ok = true;
    vyre_intern_init(&tags, all->a);
    for (vyre_stmt s = 0; s < p->stmt_count && ok; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        all->wait_of[s] = VYRE_NONE;
        if (is_begin(n->op)) {
            const uint32_t tag = vyre_intern_add(&tags, n->text, strlen(n->text));
            ok = tag != VYRE_INTERN_NONE && vyre_unique_name(&all->tags, n->text) != NULL &&
                 (tag < begins.count || vyre_vec_push(all->a, &begins, s));
            if (ok) {
                begins.data[tag] = s;
            }
        } else if (n->op == VYRE_STMT_ASYNC_WAIT) {
            const uint32_t tag = vyre_intern_find(&tags, n->text, strlen(n->text));
            if (tag < begins.count) {
                all->wait_of[begins.data[tag]] = s;
            }
        }
    }
    vyre_intern_finish(&tags);
    vyre_vec_free(all->a, &begins);
    return ok;
}

typedef struct writing {
    plan *all;
    vyre_stmt stmt;
    bool lists; /* else it counts */
} writing;

static void note_write(void *user, vyre_decl decl, uint32_t effect, vyre_expr load) {
    const writing *w = user;
    (void)load;
    if (effect & VYRE_EFFECT_WRITE) {
        uint32_t *at = &w->all->first_writer[decl];
        if (w->lists) {
            w->all->writers[--*at] = w->stmt;
        } else {
            ++*at;
        }
    }
}

/* Counts, adds up, and fills each list from its end. */
static bool list_writers(plan *all) {
    const vyre_program_view *p = all->p;
    vyre_effect_map *effects = NULL;
    vyre_calls calls;
    if (vyre_calls_init(&calls, all->program, all->a) != VYRE_OK) {
        return false;
    }
    bool ok = vyre_effects_create(all->program, &calls, all->a, &effects) == VYRE_OK;
    vyre_calls_finish(&calls, all->a);
    for (vyre_stmt s = p->entry; s < p->stmt_count && ok; s++) {
        vyre_effects_of(effects, s, note_write, &(writing){all, s, false});
    }
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        all->first_writer[d + 1] += all->first_writer[d];
    }
    all->writer_count = all->first_writer[p->decl_count];
    all->writers = vyre_alloc(all->a, all->writer_count, sizeof *all->writers);
    ok = ok && all->writers;
    for (vyre_stmt s = p->stmt_count; s-- > p->entry && ok;) {
        vyre_effects_of(effects, s, note_write, &(writing){all, s, true});
    }
    vyre_effects_destroy(effects);
    return ok;
}

/* The lists of a number for each statement. */
enum { LISTS = 6 };
static void lists_of(plan *all, uint32_t **out_lists[LISTS]) {
    uint32_t **const lists[LISTS] = {&all->waits,   &all->leaves,  &all->barriers,
                                     &all->special, &all->wait_of, &all->number};
    memcpy(out_lists, lists, sizeof lists);
}

static bool survey(plan *all) {
    const vyre_program_view *p = all->p;
    uint32_t **lists[LISTS];
    lists_of(all, lists);
    all->first_writer =
        vyre_alloc_zeroed(all->a, (size_t)p->decl_count + 1, sizeof *all->first_writer);
    bool ok = all->first_writer;
    for (int i = 0; i < LISTS; i++) {
        *lists[i] = vyre_alloc_zeroed(all->a, (size_t)p->stmt_count + 1, sizeof **lists[i]);
        ok = ok && *lists[i];
    }
    all->room = VYRE_LIMIT_PRIVATE_BYTES;
    for (vyre_decl d = 0; d < p->decl_count; d++) {
        all->room -= p->decls[d].role == VYRE_PRIVATE ? bytes_of(p, d) : 0;
    }
    if (ok) {
        count_statements(all);
    }
    return ok && match_tags(all) && list_writers(all);
}

static void finish(plan *all) {
    uint32_t **lists[LISTS];
    lists_of(all, lists);
    for (int i = 0; i < LISTS; i++) {
        vyre_free(all->a, *lists[i], (size_t)all->p->stmt_count + 1, sizeof **lists[i]);
    }
    vyre_free(all->a, all->first_writer, (size_t)all->p->decl_count + 1, sizeof *all->first_writer);
    vyre_free(all->a, all->writers, all->writer_count, sizeof *all->writers);
    vyre_vec_free(all->a, &all->list);
    vyre_unique_finish(&all->tags);
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
    finish(&all);
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
