/* Versions: the log of changes, and arms that are undone and meet. */
#include "analysis/versions.h"

bool vyre_versions_init(vyre_versions *v, uint32_t var_count, const vyre_allocator *a) {
    *v = (vyre_versions){.a = a, .var_count = var_count};
    v->current = vyre_alloc_zeroed(a, var_count, sizeof *v->current);
    v->bound = vyre_alloc_zeroed(a, var_count, sizeof *v->bound);
    v->mark = vyre_alloc_zeroed(a, var_count, sizeof *v->mark);
    v->other = vyre_alloc_zeroed(a, var_count, sizeof *v->other);
    return v->current && v->bound && v->mark && v->other;
}

void vyre_versions_finish(vyre_versions *v) {
    vyre_free(v->a, v->current, v->var_count, sizeof *v->current);
    vyre_free(v->a, v->bound, v->var_count, sizeof *v->bound);
    vyre_free(v->a, v->mark, v->var_count, sizeof *v->mark);
    vyre_free(v->a, v->other, v->var_count, sizeof *v->other);
    vyre_vec_free(v->a, &v->changes);
    vyre_vec_free(v->a, &v->outcomes);
    vyre_vec_free(v->a, &v->open);
}

void vyre_versions_open(vyre_versions *v) {
    const vyre_version_scope scope = {.changes = v->changes.count, .outcomes = v->outcomes.count};
    v->failed |= !vyre_vec_push(v->a, &v->open, scope);
}

void vyre_versions_drop(vyre_versions *v) {
    v->changes.count = v->open.data[--v->open.count].changes;
}

/* Into the log of what is around, but for what was bound in it. */
void vyre_versions_close(vyre_versions *v) {
    const uint32_t first = v->open.data[--v->open.count].changes;
    uint32_t kept = first;
    for (uint32_t i = first; i < v->changes.count; i++) {
        if (v->bound[v->changes.data[i].var] < v->open.count) {
            v->changes.data[kept++] = v->changes.data[i];
        }
    }
    v->changes.count = kept;
}

/* The changes of an arm become outcomes and are undone. */
static void end_arm(vyre_versions *v) {
    const uint32_t first = v->outcomes.count, begin = v->open.data[v->open.count - 1].changes;
    v->serial++;
    for (uint32_t i = begin; i < v->changes.count; i++) {
        const vyre_version_change c = v->changes.data[i];
        if (v->mark[c.var] == v->serial) {
            continue; /* the first change holds the version before the arm */
        }
        v->mark[c.var] = v->serial;
        const vyre_version_outcome made = {c.var, c.before, v->current[c.var]};
        if (!vyre_vec_push(v->a, &v->outcomes, made)) {
            v->failed = true;
            return;
        }
    }
    for (uint32_t i = first; i < v->outcomes.count; i++) {
        v->current[v->outcomes.data[i].var] = v->outcomes.data[i].before;
    }
    v->changes.count = begin;
}

const vyre_version_outcome *vyre_versions_turn(vyre_versions *v, uint32_t *out_count) {
    vyre_version_scope *scope = &v->open.data[v->open.count - 1];
    end_arm(v);
    scope->then_end = v->outcomes.count;
    *out_count = scope->then_end - scope->outcomes;
    return v->outcomes.data ? v->outcomes.data + scope->outcomes : NULL;
}

static void become(vyre_versions *v, vyre_version_outcome of, uint32_t version) {
    if (version != of.before) {
        vyre_versions_assign(v, of.var, version);
    }
}

void vyre_versions_join(vyre_versions *v, vyre_versions_meet meet, void *user) {
    end_arm(v);
    const vyre_version_scope scope = v->open.data[--v->open.count];
    v->serial++;
    for (uint32_t i = scope.then_end; i < v->outcomes.count; i++) {
        v->mark[v->outcomes.data[i].var] = v->serial;
        v->other[v->outcomes.data[i].var] = v->outcomes.data[i].after;
    }
    for (uint32_t i = scope.outcomes; i < scope.then_end; i++) {
        const vyre_version_outcome of = v->outcomes.data[i];
        const bool both = v->mark[of.var] == v->serial;
        become(v, of, meet(user, of.var, of.after, both ? v->other[of.var] : of.before));
        v->mark[of.var] = 0;
    }
    for (uint32_t i = scope.then_end; i < v->outcomes.count; i++) {
        const vyre_version_outcome of = v->outcomes.data[i];
        if (v->mark[of.var] == v->serial) {
            become(v, of, meet(user, of.var, of.before, of.after));
        }
    }
    v->outcomes.count = scope.outcomes;
}
