/* Versions of variables, as a walk over structured control flow comes to them: numbers that the
 * walker gives out, a new one wherever a variable gets a value and where several meet.
 *
 * The work is proportional to the changes, not to the number of variables: a change inside of a
 * construct is logged with the version before, so that an arm is undone at `else` and both arms
 * meet at the end. Loops have versions at head and exit for what is assigned in them (assigned.h),
 * which the walker makes: what jumps bring there is its business. */
#ifndef VYRE_SRC_ANALYSIS_VERSIONS_H
#define VYRE_SRC_ANALYSIS_VERSIONS_H

#include "base/alloc.h"
#include "vyre/ir.h"

typedef struct vyre_version_change {
    vyre_var var;
    uint32_t before;
} vyre_version_change;

/* What an arm made of a variable. */
typedef struct vyre_version_outcome {
    vyre_var var;
    uint32_t before, after;
} vyre_version_outcome;

/* An open construct: what was logged before it. */
typedef struct vyre_version_scope {
    uint32_t changes, outcomes;
    uint32_t then_end; /* outcomes of the first arm end here */
} vyre_version_scope;

typedef struct vyre_versions {
    const vyre_allocator *a;
    uint32_t var_count;
    uint32_t *current; /* per variable */
    uint32_t *bound;   /* per variable: constructs open at its binding */
    uint32_t *mark;    /* per variable: serial of the last scan that met it */
    uint32_t *other;   /* per variable, with mark: version in the other arm */
    uint32_t serial;
    VYRE_VEC(vyre_version_change) changes;
    VYRE_VEC(vyre_version_outcome) outcomes;
    VYRE_VEC(vyre_version_scope) open;
    bool failed; /* out of memory */
} vyre_versions;

/* All versions are 0. False when out of memory; to be finished in either case. */
bool vyre_versions_init(vyre_versions *v, uint32_t var_count, const vyre_allocator *a);
void vyre_versions_finish(vyre_versions *v);

static inline void vyre_versions_bind(vyre_versions *v, vyre_var var, uint32_t version) {
    v->bound[var] = v->open.count;
    v->current[var] = version;
}

static inline void vyre_versions_assign(vyre_versions *v, vyre_var var, uint32_t version) {
    if (v->bound[var] < v->open.count) {
        const vyre_version_change change = {var, v->current[var]};
        v->failed |= !vyre_vec_push(v->a, &v->changes, change);
    }
    v->current[var] = version;
}

/* Any construct begins. */
void vyre_versions_open(vyre_versions *v);
/* One that everybody goes through ends: its changes stay. */
void vyre_versions_close(vyre_versions *v);
/* A loop or a body ends, and what it changed is forgotten: the walker says what it has become. */
void vyre_versions_drop(vyre_versions *v);

/* The first arm ends, and all is again what it was before it. Returns what it made, until anything
 * else is done here. */
const vyre_version_outcome *vyre_versions_turn(vyre_versions *v, uint32_t *out_count);
/* What a variable is behind an `if` that made `then` and `otherwise` of it: once for each that
 * either arm changed. */
typedef uint32_t (*vyre_versions_meet)(void *user, vyre_var var, uint32_t then, uint32_t otherwise);
/* An `if` ends, behind a turn. */
void vyre_versions_join(vyre_versions *v, vyre_versions_meet meet, void *user);

#endif
