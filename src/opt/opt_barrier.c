/* The barrier optimiser.
 *
 * A *part* is what lanes may do at the same time: statements between which control can go without a
 * grid barrier, in either direction, back edges included. One walk finds them; where two ways meet
 * their parts are united. For each part a summary tells of each memory how it is read and written:
 * not at all, at one form of owned index (analysis/owned.h), among the elements of the lane's
 * group, or anywhere.
 *
 * A barrier lies between two parts, or within one. It may go if no two different lanes can have a
 * conflict across it: no memory is written in one part and touched in the other, except by one
 * form of owned index on both sides. Then the parts are united, so that what is decided later sees
 * what has become one interval: all that lanes may now do at the same time has been compared, for a
 * pair of statements comes into one interval with the last removal on a way between them, and at
 * that time the one was in the part before that barrier and the other in the part behind it. If all
 * conflicts are between lanes of one group (those over workgroup memory are, and those over
 * elements of the group), a workgroup barrier takes the place of the grid barrier: it orders them.
 *
 * No proof of uniformity needs a barrier that goes. Such proofs rest on loads at uniform indices of
 * memory that is not written in the interval. An owned index is not uniform, so such a load counts
 * as anywhere, and a write that would come into its interval is a conflict that only a grid barrier
 * orders.
 *
 * A trap is reported by the interval it is in: parts with traps stay apart. Collectives stay. What
 * is private never conflicts. Barriers deep in loops are tried first: they cost most. */
#include "opt/opt_barrier.h"

#include <stdlib.h>

#include "analysis/effects.h"
#include "analysis/owned.h"
#include "base/diag.h"
#include "ir/each.h"
#include "ir/waits.h"

enum { ANYWHERE = VYRE_NONE }; /* beside VYRE_OWNED_NOT, here: not at all, and forms */

typedef struct access {
    uint32_t at;    /* 0, a form, or ANYWHERE */
    uint32_t group; /* then: the elements of the group that hold it, or ANYWHERE */
    vyre_stmt stmt; /* one that made it what it is */
} access;

typedef struct use {
    vyre_decl decl;
    uint32_t part;
    access reads, writes;
    uint32_t next;   /* of the part */
    uint32_t beside; /* in the bucket */
} use;

typedef struct part {
    uint32_t parent;
    uint32_t first, count; /* uses */
    vyre_stmt trap;        /* or VYRE_NONE */
} part;

typedef enum fate { KEPT, WEAKENED, REMOVED } fate;

typedef struct conflict {
    vyre_decl decl; /* VYRE_NONE: none */
    access before, behind;
    bool writes_before, writes_behind;
    bool in_group; /* only lanes of one group have it */
} conflict;

typedef struct barrier {
    vyre_stmt stmt;
    uint32_t before, behind, depth;
    fate fate;
    conflict why; /* it stays, or is only weakened */
    uint32_t first_owned, owned_count;
} barrier;

typedef struct open_list {
    vyre_stmt opener;
    uint32_t part;     /* where its condition is evaluated */
    uint32_t then_end; /* IF with an else: part at the end of the first arm */
} open_list;

typedef struct optimiser {
    const vyre_program *program;
    const vyre_program_view *p;
    const vyre_allocator *a;
    vyre_effect_map *effects;
    vyre_owned owned;
    VYRE_VEC(part) parts;
    VYRE_VEC(use) uses;
    uint32_t *buckets; /* of uses, by part and declaration */
    uint32_t bucket_mask;
    VYRE_VEC(barrier) barriers;
    VYRE_VEC(open_list) open;
    vyre_barriers *out;
    uint32_t current; /* part */
    uint32_t depth;   /* loops around */
    vyre_stmt stmt;   /* present */
    uint32_t next;    /* barrier, while rewriting */
    bool failed;
} optimiser;

/* Parts */

static uint32_t new_part(optimiser *o) {
    uint32_t number = o->parts.count;
    part fresh = {.parent = number, .first = VYRE_NONE, .trap = VYRE_NONE};
    o->failed |= !vyre_vec_push(o->a, &o->parts, fresh);
    return o->failed ? 0 : number;
}

static uint32_t root_of(optimiser *o, uint32_t number) {
    part *parts = o->parts.data;
    while (parts[number].parent != number) {
        number = parts[number].parent = parts[parts[number].parent].parent;
    }
    return number;
}

static uint32_t *bucket_of(const optimiser *o, uint32_t root, vyre_decl decl) {
    uint64_t mixed = (((uint64_t)root << 32) + decl + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return &o->buckets[(uint32_t)(mixed >> 32) & o->bucket_mask];
}

static use *find_use(const optimiser *o, uint32_t root, vyre_decl decl) {
    uint32_t i = *bucket_of(o, root, decl);
    while (i != VYRE_NONE && (o->uses.data[i].part != root || o->uses.data[i].decl != decl)) {
        i = o->uses.data[i].beside;
    }
    return i == VYRE_NONE ? NULL : &o->uses.data[i];
}

/* Gives a use to a part that has none of its memory. */
static void link_use(optimiser *o, uint32_t number, uint32_t root) {
    use *u = &o->uses.data[number];
    uint32_t *bucket = bucket_of(o, root, u->decl);
    u->part = root;
    u->next = o->parts.data[root].first;
    u->beside = *bucket;
    o->parts.data[root].first = *bucket = number;
    o->parts.data[root].count++;
}

static void unlink_use(optimiser *o, uint32_t number) {
    const use *u = &o->uses.data[number];
    uint32_t *at = bucket_of(o, u->part, u->decl);
    while (*at != number) {
        at = &o->uses.data[*at].beside;
    }
    *at = u->beside;
}

static void join(access *to, access from) {
    const uint32_t at = from.at == to->at ? to->at : ANYWHERE;
    const uint32_t group = from.group == to->group ? to->group : ANYWHERE;
    if (to->at == 0) {
        *to = from;
    } else if (from.at != 0 && (at != to->at || group != to->group)) {
        *to = (access){at, group, from.stmt};
    }
}

static void unite(optimiser *o, uint32_t x, uint32_t y) {
    if (o->failed) {
        return;
    }
    uint32_t into = root_of(o, x), from = root_of(o, y);
    if (into == from) {
        return;
    }
    part *parts = o->parts.data;
    if (parts[into].count < parts[from].count) {
        const uint32_t larger = from;
        from = into;
        into = larger;
    }
    for (uint32_t i = parts[from].first, next; i != VYRE_NONE; i = next) {
        use *moved = &o->uses.data[i], *there = find_use(o, into, moved->decl);
        next = moved->next;
        unlink_use(o, i);
        if (there) {
            join(&there->reads, moved->reads);
            join(&there->writes, moved->writes);
        } else {
            link_use(o, i, into);
        }
    }
    parts[into].trap = parts[into].trap == VYRE_NONE ? parts[from].trap : parts[into].trap;
    parts[from].parent = into;
}

/* What a statement does */

static void note_access(void *user, vyre_decl decl, uint32_t effect, vyre_expr load) {
    optimiser *o = user;
    const vyre_stmt_node *n = &o->p->stmts[o->stmt];
    const vyre_role role = (vyre_role)o->p->decls[decl].role;
    if (role == VYRE_PRIVATE || role == VYRE_IN || o->failed) {
        return;
    }
    const bool indexed = n->op == VYRE_STMT_STORE || n->op == VYRE_STMT_ATOMIC;
    const vyre_expr index = load != VYRE_NONE ? o->p->exprs[load].u.arg[0]
                            : indexed         ? n->arg[0]
                                              : VYRE_NONE;
    const uint32_t form =
        index == VYRE_NONE ? VYRE_OWNED_NOT : vyre_owned_form(&o->owned, decl, index);
    const uint32_t group = vyre_owned_group(&o->owned, form);
    const access now = {form == VYRE_OWNED_NOT ? ANYWHERE : form,
                        group == VYRE_OWNED_NOT ? ANYWHERE : group, o->stmt};
    const uint32_t root = root_of(o, o->current);
    use *u = find_use(o, root, decl);
    if (!u) {
        if (!vyre_vec_push(o->a, &o->uses, (use){.decl = decl})) {
            o->failed = true;
            return;
        }
        link_use(o, o->uses.count - 1, root);
        u = &o->uses.data[o->uses.count - 1];
    }
    if (effect & VYRE_EFFECT_READ) {
        join(&u->reads, now);
    }
    if (effect & VYRE_EFFECT_WRITE) {
        join(&u->writes, now);
    }
}

static void open_construct(optimiser *o, vyre_stmt s) {
    const uint8_t op = o->p->stmts[s].op;
    o->depth += op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE;
    o->failed |= !vyre_vec_push(
        o->a, &o->open, (open_list){.opener = s, .part = o->current, .then_end = VYRE_NONE});
}

static void close_construct(optimiser *o) {
    const open_list top = o->open.data[--o->open.count];
    const uint8_t op = o->p->stmts[top.opener].op;
    if (op == VYRE_STMT_IF) {
        unite(o, o->current, top.then_end == VYRE_NONE ? top.part : top.then_end);
    } else if (op == VYRE_STMT_FOR || op == VYRE_STMT_WHILE) {
        unite(o, o->current, top.part);
        o->current = top.part;
        o->depth--;
    }
}

/* To where the condition of the loop is evaluated, or behind it, which is one part. */
static void jump(optimiser *o, vyre_stmt loop) {
    uint32_t i = o->open.count;
    while (o->open.data[i - 1].opener != loop) {
        i--;
    }
    unite(o, o->current, o->open.data[i - 1].part);
}

static void wait_for_grid(optimiser *o, vyre_stmt s) {
    const uint32_t before = o->current;
    o->current = new_part(o);
    if (o->p->stmts[s].op == VYRE_STMT_GRID_SYNC) {
        const barrier one = {.stmt = s, .before = before, .behind = o->current, .depth = o->depth};
        o->failed |= !vyre_vec_push(o->a, &o->barriers, one);
    }
}

static void walk_stmt(optimiser *o, vyre_stmt s) {
    const vyre_stmt_node *n = &o->p->stmts[s];
    o->stmt = s;
    if (vyre_waits_of((vyre_stmt_op)n->op) == VYRE_WAITS_GRID) {
        wait_for_grid(o, s);
        return;
    }
    vyre_effects_of(o->effects, s, note_access, o);
    switch ((uint32_t)n->op) {
    case VYRE_STMT_ELSE:
        o->open.data[o->open.count - 1].then_end = o->current;
        o->current = o->open.data[o->open.count - 1].part;
        break;
    case VYRE_STMT_END: close_construct(o); break;
    case VYRE_STMT_BREAK:
    case VYRE_STMT_CONTINUE:
        jump(o, n->match);
        o->current = new_part(o); /* nobody comes to what follows */
        break;
    case VYRE_STMT_TRAP:
        o->parts.data[root_of(o, o->current)].trap = s;
        o->current = new_part(o);
        break;
    case VYRE_STMT_EXIT: o->current = new_part(o); break;
    default:
        if (vyre_stmt_info_of((vyre_stmt_op)n->op)->scope == VYRE_SCOPE_OPEN) {
            open_construct(o, s);
        }
    }
}

static bool walk(optimiser *o) {
    uint32_t buckets = 16;
    while (buckets < o->p->stmt_count) {
        buckets *= 2;
    }
    o->bucket_mask = buckets - 1;
    o->buckets = vyre_alloc(o->a, buckets, sizeof *o->buckets);
    o->failed = !o->buckets;
    for (uint32_t i = 0; i < buckets && !o->failed; i++) {
        o->buckets[i] = VYRE_NONE;
    }
    o->current = new_part(o);
    for (vyre_stmt s = o->p->entry; s < o->p->stmt_count && !o->failed; s++) {
        walk_stmt(o, s);
    }
    return !o->failed;
}

/* Decisions */

/* Notes the conflict of two accesses to a memory, one of them writing; true if lanes touch it on
 * both sides, but each its own elements. */
static bool compare(access before, access behind, bool writes_before, bool writes_behind,
                    conflict *out) {
    if (before.at == 0 || behind.at == 0) {
        return false;
    }
    if (before.at != ANYWHERE && before.at == behind.at) {
        return true;
    }
    const bool in_group = before.group != ANYWHERE && before.group == behind.group;
    if (!in_group || out->before.at == 0) { /* one between any lanes counts for more */
        *out = (conflict){.before = before,
                          .behind = behind,
                          .writes_before = writes_before,
                          .writes_behind = writes_behind,
                          .in_group = in_group};
    }
    return false;
}

/* What is decided about a barrier. */
typedef struct verdict {
    conflict grid, group; /* of the first such memory: between any lanes, only within a group */
    bool along_x;
} verdict;

static void judge(optimiser *o, const use *before, const use *behind, verdict *v) {
    conflict found = {.before = {0}};
    bool own = compare(before->writes, behind->writes, true, true, &found);
    own |= compare(before->reads, behind->writes, false, true, &found);
    own |= compare(before->writes, behind->reads, true, false, &found);
    const vyre_decl decl = before->decl;
    const bool shared = o->p->decls[decl].role != VYRE_WORKGROUP;
    const bool in_group = !shared || found.in_group;
    conflict *first = in_group ? &v->group : &v->grid;
    if (found.before.at != 0) {
        v->along_x |= shared && in_group;
        if (decl < first->decl) {
            *first = found;
            first->decl = decl;
        }
    } else if (own) {
        o->failed |= !vyre_vec_push(o->a, &o->out->owned, decl);
        v->along_x |= shared;
    }
}

/* Compares the memories that both parts use: those of the one that uses fewer are looked up in the
 * other. */
static void judge_all(optimiser *o, uint32_t before, uint32_t behind, verdict *v) {
    const bool swap = o->parts.data[before].count > o->parts.data[behind].count;
    const uint32_t few = swap ? behind : before, many = swap ? before : behind;
    for (uint32_t i = o->parts.data[few].first; i != VYRE_NONE && !o->failed;
         i = o->uses.data[i].next) {
        const use *mine = &o->uses.data[i], *theirs = find_use(o, many, mine->decl);
        if (theirs) {
            judge(o, swap ? theirs : mine, swap ? mine : theirs, v);
        }
    }
}

static int by_number(const void *a, const void *b) {
    const vyre_decl x = *(const vyre_decl *)a, y = *(const vyre_decl *)b;
    return (x > y) - (x < y);
}

static void decide(optimiser *o, barrier *b) {
    const uint32_t before = root_of(o, b->before), behind = root_of(o, b->behind);
    const part *x = &o->parts.data[before], *y = &o->parts.data[behind];
    const vyre_stmt trap = x->trap != VYRE_NONE ? x->trap : y->trap;
    verdict v = {.grid.decl = VYRE_NONE, .group.decl = VYRE_NONE};
    if (trap != VYRE_NONE) {
        b->why = (conflict){.decl = VYRE_NONE, .before = {ANYWHERE, ANYWHERE, trap}};
        return;
    }
    b->first_owned = o->out->owned.count;
    judge_all(o, before, behind, &v);
    if (v.grid.decl != VYRE_NONE || o->failed) {
        o->out->owned.count = b->first_owned;
        b->why = v.grid;
        return;
    }
    b->owned_count = o->out->owned.count - b->first_owned;
    if (b->owned_count > 1) {
        qsort(o->out->owned.data + b->first_owned, b->owned_count, sizeof *o->out->owned.data,
              by_number);
    }
    b->fate = v.group.decl != VYRE_NONE ? WEAKENED : REMOVED;
    b->why = v.group;
    o->out->along_x |= v.along_x;
    unite(o, before, behind);
}

/* Deepest first, else in order. */
static bool decide_all(optimiser *o) {
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < o->barriers.count; i++) {
        deepest = o->barriers.data[i].depth > deepest ? o->barriers.data[i].depth : deepest;
    }
    uint32_t *start = vyre_alloc_zeroed(o->a, (size_t)deepest + 2, sizeof *start);
    uint32_t *order = vyre_alloc(o->a, o->barriers.count, sizeof *order);
    o->failed = !start || !order;
    for (uint32_t i = 0; i < o->barriers.count && !o->failed; i++) {
        start[deepest - o->barriers.data[i].depth + 1]++;
    }
    for (uint32_t i = 0; i < deepest && !o->failed; i++) {
        start[i + 1] += start[i];
    }
    for (uint32_t i = 0; i < o->barriers.count && !o->failed; i++) {
        order[start[deepest - o->barriers.data[i].depth]++] = i;
    }
    for (uint32_t i = 0; i < o->barriers.count && !o->failed; i++) {
        decide(o, &o->barriers.data[order[i]]);
    }
    vyre_free(o->a, start, (size_t)deepest + 2, sizeof *start);
    vyre_free(o->a, order, o->barriers.count, sizeof *order);
    return !o->failed;
}

/* The result */

static bool replace(vyre_each *each, vyre_stmt s) {
    optimiser *o = each->user;
    if (o->next == o->barriers.count || o->barriers.data[o->next].stmt != s) {
        return false;
    }
    const fate what = o->barriers.data[o->next++].fate;
    if (what == WEAKENED) {
        vyre_builder_at(each->rw.to, vyre_program_stmt_place(each->rw.source, s));
        vyre_build_barrier(each->rw.to, VYRE_SEQ_CST);
    }
    return what != KEPT;
}

static vyre_conflict explain(const optimiser *o, const conflict *c) {
    return (vyre_conflict){
        .decl = c->decl,
        .before =
            c->before.at ? vyre_program_stmt_place(o->program, c->before.stmt) : (vyre_place){0},
        .behind =
            c->behind.at ? vyre_program_stmt_place(o->program, c->behind.stmt) : (vyre_place){0},
        .writes_before = c->writes_before,
        .writes_behind = c->writes_behind};
}

static bool list(optimiser *o, const vyre_program_view *result) {
    vyre_barriers *out = o->out;
    vyre_stmt at = result->entry;
    bool ok = true;
    for (uint32_t i = 0; i < o->barriers.count && ok; i++) {
        const barrier *b = &o->barriers.data[i];
        if (b->fate == KEPT) {
            while (result->stmts[at].op != VYRE_STMT_GRID_SYNC) {
                at++;
            }
            ok = vyre_vec_push(o->a, &out->kept,
                               (vyre_kept_barrier){.stmt = at++, .why = explain(o, &b->why)});
        } else {
            ok =
                vyre_vec_push(o->a, &out->removed,
                              (vyre_removed_barrier){
                                  .place = vyre_program_stmt_place(o->program, b->stmt),
                                  .weakened = b->fate == WEAKENED,
                                  .owned = b->owned_count ? out->owned.data + b->first_owned : NULL,
                                  .owned_count = b->owned_count,
                                  .why = explain(o, &b->why)});
        }
    }
    return ok;
}

static bool changes(const optimiser *o) {
    bool any = false;
    for (uint32_t i = 0; i < o->barriers.count; i++) {
        any |= o->barriers.data[i].fate != KEPT;
    }
    return any;
}

static vyre_status optimise(optimiser *o, vyre_program *program, vyre_program **out_program,
                            vyre_diag *diag) {
    vyre_program *result = NULL;
    if (!walk(o) || !decide_all(o)) {
        return vyre_fail_memory(diag, "removing barriers");
    }
    vyre_status status = VYRE_OK;
    if (changes(o)) {
        status = vyre_each_rewrite(program, NULL, replace, o, o->a, &result, diag);
    } else {
        result = vyre_program_retain(program);
    }
    if (status == VYRE_OK && !list(o, vyre_program_get(result))) {
        vyre_program_release(result);
        status = vyre_fail_memory(diag, "removing barriers");
    }
    if (status == VYRE_OK) {
        *out_program = result;
    }
    return status;
}

vyre_status vyre_opt_barrier(vyre_program *program, bool any_grid, const vyre_allocator *a,
                             vyre_program **out_program, vyre_barriers *out_barriers,
                             vyre_diag *diag) {
    optimiser o = {.program = program, .p = vyre_program_get(program), .a = a, .out = out_barriers};
    *out_barriers = (vyre_barriers){.along_x = false};
    vyre_calls calls;
    vyre_status status = vyre_calls_init(&calls, program, a);
    if (status == VYRE_OK) {
        status = vyre_effects_create(program, &calls, a, &o.effects);
        vyre_calls_finish(&calls, a);
    }
    if (status == VYRE_OK) {
        status = vyre_owned_init(&o.owned, o.p, any_grid, a);
    }
    if (status == VYRE_OK) {
        status = optimise(&o, program, out_program, diag);
        vyre_owned_finish(&o.owned);
    } else {
        (void)vyre_fail_memory(diag, "removing barriers");
    }
    vyre_effects_destroy(o.effects);
    vyre_vec_free(a, &o.parts);
    vyre_vec_free(a, &o.uses);
    vyre_free(a, o.buckets, (size_t)o.bucket_mask + 1, sizeof *o.buckets);
    vyre_vec_free(a, &o.barriers);
    vyre_vec_free(a, &o.open);
    if (status != VYRE_OK) {
        vyre_barriers_finish(out_barriers, a);
    }
    return status;
}

void vyre_barriers_finish(vyre_barriers *barriers, const vyre_allocator *a) {
    vyre_vec_free(a, &barriers->removed);
    vyre_vec_free(a, &barriers->kept);
    vyre_vec_free(a, &barriers->owned);
}
