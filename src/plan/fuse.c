/* Fusion, first half: which buffers are shared, which waves must wait for which, and which role a
 * shared buffer has in the result. */
#include "plan/fuse.h"

#include <string.h>

#include "base/diag.h"
#include "ir/fold.h"
#include "lower/inline.h"
#include "vyre/check.h"

typedef unsigned long long ull;

/* How each wave uses its declarations. */

static void note_access(const vyre_program_view *p, uint8_t *access) {
    for (uint32_t e = 0; e < p->expr_count; e++) {
        if (p->exprs[e].op == VYRE_EXPR_LOAD) {
            access[p->exprs[e].ref] |= VYRE_FUSE_READS;
        }
    }
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const vyre_stmt_node *n = &p->stmts[s];
        const vyre_stmt_info *info = vyre_stmt_info_of((vyre_stmt_op)n->op);
        if (n->decl != VYRE_NONE) { /* a store may leave elements that were there */
            access[n->decl] |= (uint8_t)(VYRE_FUSE_READS | info->decl);
        }
        if (n->decl2 != VYRE_NONE) {
            access[n->decl2] |= info->decl2;
        }
    }
}

static bool is_shared_role(uint8_t role) {
    return role == VYRE_IN || role == VYRE_INOUT || role == VYRE_OUT || role == VYRE_PARAM;
}

bool vyre_fuse_same_expr(const vyre_program_view *a, vyre_expr x, const vyre_program_view *b,
                         vyre_expr y) {
    if (x == VYRE_NONE || y == VYRE_NONE) {
        return x == y;
    }
    /* Trees are contiguous and end at their roots: walk both backwards in step. */
    for (int64_t left = 1; left > 0; left--, x--, y--) {
        const vyre_expr_node *m = &a->exprs[x], *n = &b->exprs[y];
        uint32_t arity = vyre_expr_info_of((vyre_expr_op)m->op)->arity;
        if (m->op != n->op || m->type != n->type || m->sub != n->sub || m->axis != n->axis ||
            (m->op == VYRE_EXPR_LITERAL && m->u.bits != n->u.bits)) {
            return false;
        }
        if (m->op == VYRE_EXPR_LEN || m->op == VYRE_EXPR_REF || m->op == VYRE_EXPR_LOAD) {
            uint64_t v, w;
            bool consts = vyre_fold_const(a, m->ref, &v) && vyre_fold_const(b, n->ref, &w);
            if (consts ? v != w : strcmp(a->decls[m->ref].name, b->decls[n->ref].name) != 0) {
                return false;
            }
        }
        left += arity;
    }
    return true;
}

/* Shared declarations */

static vyre_status refuse(vyre_fusion *f, uint32_t wave, vyre_decl decl, const char *fix,
                          const char *what) {
    const vyre_decl_node *d = &vyre_program_get(f->programs[wave])->decls[decl];
    return vyre_fail_at(f->diag, VYRE_INVALID_INPUT, "",
                        vyre_program_decl_place(f->programs[wave], decl), fix, "`%s` in wave %s %s",
                        d->name, f->waves[wave].name, what);
}

static vyre_fuse_shared *find_shared(vyre_fusion *f, const char *name) {
    for (uint32_t i = 0; i < f->shared.count; i++) {
        if (strcmp(f->shared.data[i].name, name) == 0) {
            return &f->shared.data[i];
        }
    }
    return NULL;
}

static vyre_fuse_shared *add_shared(vyre_fusion *f, uint32_t wave, vyre_decl decl) {
    const vyre_decl_node *d = &vyre_program_get(f->programs[wave])->decls[decl];
    vyre_fuse_shared one = {.name = d->name, .type = d->type, .wave = wave, .decl = decl};
    one.decl_of = vyre_alloc(&f->allocator, f->wave_count, sizeof *one.decl_of);
    if (!one.decl_of || !vyre_vec_push(&f->allocator, &f->shared, one)) {
        vyre_free(&f->allocator, one.decl_of, f->wave_count, sizeof *one.decl_of);
        (void)vyre_fail_memory(f->diag, "fusion");
        return NULL;
    }
    memset(one.decl_of, 0xff, f->wave_count * sizeof *one.decl_of);
    return &f->shared.data[f->shared.count - 1];
}

/* A later declaration must agree with what is known; a declared size wins over none. */
static vyre_status agree(vyre_fusion *f, vyre_fuse_shared *known, uint32_t wave, vyre_decl decl) {
    const vyre_program_view *p = vyre_program_get(f->programs[wave]);
    const vyre_program_view *q = vyre_program_get(f->programs[known->wave]);
    const vyre_decl_node *d = &p->decls[decl], *e = &q->decls[known->decl];
    if (d->type != known->type || (d->role == VYRE_PARAM) != (e->role == VYRE_PARAM)) {
        return refuse(f, wave, decl, "give things of one name one type",
                      "has another type than in an earlier wave");
    }
    if (!vyre_fuse_same_expr(p, d->value, q, e->value)) {
        return refuse(f, wave, decl, "give both the same default",
                      "has another default than in an earlier wave");
    }
    if (d->size != VYRE_NONE && e->size != VYRE_NONE &&
        !vyre_fuse_same_expr(p, d->size, q, e->size)) {
        return refuse(f, wave, decl, "write the same size, or none where the caller's bytes decide",
                      "has another size than in an earlier wave");
    }
    if (d->range_begin != e->range_begin || d->range_end != e->range_end) {
        return refuse(f, wave, decl, "return the same range in both",
                      "returns other bytes than in an earlier wave");
    }
    if (d->size != VYRE_NONE && e->size == VYRE_NONE) {
        known->wave = wave;
        known->decl = decl;
    }
    return VYRE_OK;
}

static vyre_status collect_shared(vyre_fusion *f) {
    for (uint32_t w = 0; w < f->wave_count; w++) {
        const vyre_program_view *p = vyre_program_get(f->programs[w]);
        for (vyre_decl d = 0; d < p->decl_count; d++) {
            if (!is_shared_role(p->decls[d].role)) {
                continue;
            }
            vyre_fuse_shared *known = find_shared(f, p->decls[d].name);
            vyre_status status = VYRE_OK;
            if (known) {
                status = agree(f, known, w, d);
            } else {
                known = add_shared(f, w, d);
                status = known ? VYRE_OK : VYRE_OUT_OF_MEMORY;
            }
            if (status != VYRE_OK) {
                return status;
            }
            known->decl_of[w] = d;
        }
    }
    return VYRE_OK;
}

/* Dependencies. reach is the transitive closure, one bit row per wave. */

typedef struct closure {
    uint64_t *bits;
    uint32_t words;
} closure;

static bool reaches(const closure *c, uint32_t from, uint32_t to) {
    return c->bits[(size_t)from * c->words + to / 64] >> (to % 64) & 1;
}

static void connect(closure *c, uint32_t count, uint32_t from, uint32_t to) {
    const uint64_t *below = c->bits + (size_t)to * c->words;
    for (uint32_t w = 0; w < count; w++) {
        if (w == from || reaches(c, w, from)) {
            uint64_t *row = c->bits + (size_t)w * c->words;
            for (uint32_t i = 0; i < c->words; i++) {
                row[i] |= below[i];
            }
            row[to / 64] |= UINT64_C(1) << (to % 64);
        }
    }
}

static bool conflict(const vyre_fusion *f, const vyre_fuse_shared *s, uint32_t a, uint32_t b) {
    if (s->decl_of[a] == VYRE_NONE || s->decl_of[b] == VYRE_NONE) {
        return false;
    }
    uint8_t x = f->access[a][s->decl_of[a]], y = f->access[b][s->decl_of[b]];
    bool writes = ((x | y) & VYRE_FUSE_WRITES) != 0;
    return x && y && writes;
}

static vyre_status order_conflicts(vyre_fusion *f, closure *c, const vyre_fuse_options *options) {
    for (uint32_t b = 1; b < f->wave_count; b++) {
        for (uint32_t a = 0; a < b; a++) {
            for (uint32_t i = 0; i < f->shared.count && !reaches(c, a, b) && !reaches(c, b, a);
                 i++) {
                if (!conflict(f, &f->shared.data[i], a, b)) {
                    continue;
                }
                connect(c, f->wave_count, a, b);
                if (!vyre_vec_push(&f->allocator, &f->deps, (vyre_wave_dep){a, b})) {
                    return vyre_fail_memory(f->diag, "fusion");
                }
                if (options->on_conflict) {
                    options->on_conflict(options->user, a, b, f->shared.data[i].name);
                }
            }
        }
    }
    return VYRE_OK;
}

static vyre_status order_waves(vyre_fusion *f, const vyre_fuse_options *options) {
    closure c = {.words = (f->wave_count + 63) / 64};
    size_t size = (size_t)c.words * f->wave_count;
    c.bits = vyre_alloc_zeroed(&f->allocator, size, sizeof *c.bits);
    vyre_status status = c.bits ? VYRE_OK : vyre_fail_memory(f->diag, "fusion");
    for (size_t i = 0; i < options->dep_count && status == VYRE_OK; i++) {
        vyre_wave_dep dep = options->deps[i];
        if (dep.before >= f->wave_count || dep.after >= f->wave_count) {
            status = vyre_fail(f->diag, VYRE_INVALID_INPUT, "name waves that are given",
                               "dependency %llu names a wave that does not exist", (ull)i + 1);
        } else if (!vyre_vec_push(&f->allocator, &f->deps, dep)) {
            status = vyre_fail_memory(f->diag, "fusion");
        } else {
            connect(&c, f->wave_count, dep.before, dep.after);
        }
    }
    if (status == VYRE_OK) {
        status = order_conflicts(f, &c, options);
    }
    vyre_free(&f->allocator, c.bits, size, sizeof *c.bits);
    return status;
}

/* The caller's bytes or zeros: the first wave in running order that has the buffer decides. */
static vyre_status choose_roles(vyre_fusion *f) {
    for (uint32_t i = 0; i < f->shared.count; i++) {
        vyre_fuse_shared *s = &f->shared.data[i];
        bool first = true, writes = false;
        for (uint32_t k = 0; k < f->plan->wave_count; k++) {
            uint32_t w = f->plan->waves[k];
            vyre_decl d = s->decl_of[w];
            if (d == VYRE_NONE) {
                continue;
            }
            uint8_t role = vyre_program_get(f->programs[w])->decls[d].role;
            if (!first && role == VYRE_OUT) {
                return refuse(f, w, d, "declare it inout in that wave",
                              "is `out`, which would clear what an earlier wave has in it");
            }
            s->role = first ? role : s->role;
            writes |= (f->access[w][d] & VYRE_FUSE_WRITES) != 0 || role == VYRE_INOUT;
            first = false;
        }
        if (s->role == VYRE_IN && writes) {
            s->role = VYRE_INOUT;
        }
    }
    return VYRE_OK;
}

static vyre_status prepare_waves(vyre_fusion *f) {
    const vyre_allocator *a = &f->allocator;
    f->programs = vyre_alloc_zeroed(a, f->wave_count, sizeof(*f->programs));
    f->access = vyre_alloc_zeroed(a, f->wave_count, sizeof(*f->access));
    if (!f->programs || !f->access) {
        return vyre_fail_memory(f->diag, "fusion");
    }
    for (uint32_t w = 0; w < f->wave_count; w++) {
        vyre_diag items[1];
        vyre_diag_list list = {.items = items, .capacity = 1};
        vyre_status status = vyre_check(f->waves[w].program, a, &list);
        if (status != VYRE_OK && f->diag && list.count) {
            *f->diag = items[0];
        }
        if (status == VYRE_OK) {
            status = vyre_inline(f->waves[w].program, a, &f->programs[w], f->diag);
        }
        if (status != VYRE_OK) {
            return status;
        }
        const vyre_program_view *p = vyre_program_get(f->programs[w]);
        f->access[w] = vyre_alloc_zeroed(a, p->decl_count, 1);
        if (!f->access[w]) {
            return vyre_fail_memory(f->diag, "fusion");
        }
        note_access(p, f->access[w]);
    }
    return VYRE_OK;
}

static void release(vyre_fusion *f) {
    const vyre_allocator *a = &f->allocator;
    for (uint32_t i = 0; i < f->shared.count; i++) {
        vyre_free(a, f->shared.data[i].decl_of, f->wave_count, sizeof(uint32_t));
    }
    vyre_vec_free(a, &f->shared);
    vyre_vec_free(a, &f->deps);
    for (uint32_t w = 0; w < f->wave_count; w++) {
        if (f->programs && f->access && f->access[w]) {
            vyre_free(a, f->access[w], vyre_program_get(f->programs[w])->decl_count, 1);
        }
        if (f->programs) {
            vyre_program_release(f->programs[w]);
        }
    }
    vyre_free(a, f->access, f->wave_count, sizeof(*f->access));
    vyre_free(a, f->programs, f->wave_count, sizeof(*f->programs));
}

/* The groups: the caller's, checked, or the fewest. */
static vyre_status choose_groups(vyre_fusion *f, const vyre_fuse_options *options,
                                 vyre_planner *planner, vyre_plan *plan) {
    if (!options->plan) {
        f->plan = plan;
        return vyre_plan_barriers(planner, f->wave_count, f->deps.data, f->deps.count, plan,
                                  f->diag);
    }
    vyre_wave *waves = vyre_alloc_zeroed(&f->allocator, f->wave_count, sizeof *waves);
    if (!waves) {
        return vyre_fail_memory(f->diag, "fusion");
    }
    for (uint32_t w = 0; w < f->wave_count; w++) {
        waves[w].name = f->waves[w].name;
    }
    vyre_wave_set set = {.waves = waves,
                         .wave_count = f->wave_count,
                         .deps = f->deps.data,
                         .dep_count = f->deps.count,
                         .budget_bytes = VYRE_PLAN_NO_BUDGET};
    f->plan = options->plan;
    vyre_status status = vyre_plan_check(&set, options->plan, &f->allocator, f->diag);
    vyre_free(&f->allocator, waves, f->wave_count, sizeof *waves);
    return status;
}

vyre_status vyre_fuse(const vyre_fuse_wave *waves, uint32_t wave_count,
                      const vyre_fuse_options *options, const vyre_allocator *allocator,
                      vyre_program **out_program, vyre_diag *diag) {
    static const vyre_fuse_options defaults;
    options = options ? options : &defaults;
    if (wave_count == 0) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "give at least one wave",
                         "there is nothing to fuse");
    }
    vyre_fusion f = {.allocator = vyre_allocator_or_system(allocator),
                     .waves = waves,
                     .wave_count = wave_count,
                     .diag = diag};
    vyre_planner *planner = NULL;
    vyre_plan plan;
    vyre_status status = vyre_planner_create(&f.allocator, &planner, diag);
    if (status == VYRE_OK) {
        status = prepare_waves(&f);
    }
    if (status == VYRE_OK) {
        status = collect_shared(&f);
    }
    if (status == VYRE_OK) {
        status = order_waves(&f, options);
    }
    if (status == VYRE_OK) {
        status = choose_groups(&f, options, planner, &plan);
    }
    if (status == VYRE_OK) {
        status = choose_roles(&f);
    }
    if (status == VYRE_OK) {
        status = vyre_fuse_build(&f, options->name ? options->name : "fused", out_program);
    }
    release(&f);
    vyre_planner_destroy(planner);
    return status;
}
