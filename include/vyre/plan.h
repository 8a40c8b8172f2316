/* Planning waves of work: which run together between two grid barriers.
 *
 * A wave is a piece of parallel work with memory needs; a dependency (before, after) says that one
 * wave reads what another wrote. Waves of one group run side by side; between groups the whole grid
 * waits once. A plan is a list of groups in which every dependency leads to a strictly later
 * group. Few groups mean few barriers.
 *
 * Without a memory limit the fewest groups are the layers of the graph (vyre_plan_barriers). With
 * a limit each group must also fit: the sum of its waves' costs may not exceed the budget minus
 * what stays resident. That is bin packing with precedence, which is NP-hard; vyre_plan_waves
 * therefore gives every plan a certificate: a lower bound on the groups of *any* plan. The plan is
 * optimal when the two meet, and else at most `group_count - lower_bound` above the optimum.
 *
 *     vyre_planner *planner;
 *     vyre_plan plan;
 *     vyre_planner_create(NULL, &planner, &diag);
 *     vyre_plan_waves(planner, &waves, NULL, &plan, &diag);
 *     for (uint32_t g = 0; g < plan.group_count; g++)
 *         for (uint32_t k = plan.group_start[g]; k < plan.group_start[g + 1]; k++)
 *             use(plan.waves[k]);
 *     vyre_planner_destroy(planner);
 *
 * A planner is scratch memory that is kept: once it has planned a problem, planning one of the same
 * size or a smaller one in `barriers` or `layered` mode allocates nothing. Use one planner per
 * thread. All results are deterministic: the same input and options give the same plan, on every
 * machine, unless the search was cancelled.
 */
#ifndef VYRE_PLAN_H
#define VYRE_PLAN_H

#include "vyre/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Largest accepted problem; more is refused with VYRE_LIMIT before anything is allocated. */
#define VYRE_PLAN_MAX_WAVES ((uint32_t)1 << 28)
#define VYRE_PLAN_MAX_DEPS  (UINT32_MAX - 1)

/* A budget that never binds. */
#define VYRE_PLAN_NO_BUDGET UINT64_MAX

/* ---- Input ---------------------------------------------------------------------------------- */

typedef struct vyre_wave {
    const char *name;  /* for messages and pictures; NULL means "wave N" */
    uint64_t frontier; /* bytes read */
    uint64_t scratch;  /* bytes of working memory; a fused group needs four times this */
    uint64_t output;   /* bytes written */
} vyre_wave;

/* `after` must run in a later group than `before`. Both are indices of waves. Repeated
 * dependencies are harmless. */
typedef struct vyre_wave_dep {
    uint32_t before;
    uint32_t after;
} vyre_wave_dep;

/* All arrays are borrowed for the duration of a call. */
typedef struct vyre_wave_set {
    const vyre_wave *waves;
    uint32_t wave_count;
    const vyre_wave_dep *deps;
    size_t dep_count;
    uint64_t budget_bytes;         /* for one group and the resident graph together */
    uint64_t resident_graph_bytes; /* taken from the budget once */
    uint64_t readback_bytes;       /* read back anyway; outputs up to this size come for free */
} vyre_wave_set;

/* The cost of a wave: frontier + 4 * scratch + output. False when it exceeds 64 bits. */
VYRE_API bool vyre_wave_cost(const vyre_wave *wave, uint64_t *out_cost);

/* ---- Plans ---------------------------------------------------------------------------------- */

typedef enum vyre_plan_mode {
    VYRE_PLAN_PACKED = 0,  /* fewest groups: heuristics, bounds, exact search */
    VYRE_PLAN_LAYERED = 1, /* layers of the graph, each cut next-fit; linear time */
    VYRE_PLAN_BARRIERS = 2 /* layers, no budget; the mode of vyre_plan_barriers */
} vyre_plan_mode;

/* "packed", "layered", "barriers". */
VYRE_API const char *vyre_plan_mode_name(vyre_plan_mode mode);

/* A plan made by a planner lives in the planner's memory and is valid until the next call with
 * that planner. For vyre_plan_check any plan will do: fill in the first five fields. */
typedef struct vyre_plan {
    vyre_plan_mode mode;
    uint32_t wave_count;
    uint32_t group_count;
    const uint32_t *waves;       /* wave_count indices, group after group */
    const uint32_t *group_start; /* group_count + 1 positions in `waves`; the last is wave_count */

    uint32_t barriers;    /* group_count - 1, or 0 */
    uint32_t lower_bound; /* no plan within the budget has fewer groups */
    bool optimal;         /* group_count == lower_bound */
    bool cancelled;       /* the search was stopped; this is the best plan it had */
    uint64_t nodes;       /* search effort spent */

    uint64_t peak_group;    /* largest cost of a group, comparable with the budget */
    uint64_t peak_frontier; /* largest sum over a group, for each component by itself; these */
    uint64_t peak_scratch;  /* three may come from different groups, and scratch is counted */
    uint64_t peak_output;   /* once, not four times */
    uint64_t readback;      /* max(readback_bytes, peak_output) */
    uint32_t max_width;     /* waves in the widest group */
} vyre_plan;

/* ---- Errors --------------------------------------------------------------------------------- */

/* The diag tells a person what is wrong; this tells a program. */
typedef enum vyre_plan_fault_kind {
    VYRE_PLAN_FAULT_NONE = 0,
    VYRE_PLAN_FAULT_INVALID_WAVE,    /* before, after, wave_count: an endpoint does not exist */
    VYRE_PLAN_FAULT_SELF_DEPENDENCY, /* wave */
    VYRE_PLAN_FAULT_CYCLE,           /* wave: one on a cycle; unscheduled: on or behind cycles */
    VYRE_PLAN_FAULT_OVERFLOW,        /* field, wave: its cost exceeds 64 bits */
    VYRE_PLAN_FAULT_OVER_BUDGET,     /* required, available, field; wave if one alone is too big */
    VYRE_PLAN_FAULT_STORAGE,         /* field, required: bytes that could not be allocated */
    VYRE_PLAN_FAULT_TOO_LARGE        /* field, required, available: a limit of this header */
} vyre_plan_fault_kind;

#define VYRE_PLAN_NO_WAVE UINT32_MAX

typedef struct vyre_plan_fault {
    vyre_plan_fault_kind kind;
    uint32_t wave_count;
    uint32_t before, after;
    uint32_t wave; /* VYRE_PLAN_NO_WAVE when no single wave is to blame */
    uint32_t unscheduled;
    uint64_t required, available;
    const char *field; /* static text, such as "resident graph bytes"; "" when there is none */
} vyre_plan_fault;

/* ---- The planner ---------------------------------------------------------------------------- */

typedef struct vyre_planner vyre_planner;

/* `allocator` may be NULL; it is copied. */
VYRE_API vyre_status vyre_planner_create(const vyre_allocator *allocator,
                                         vyre_planner **out_planner, vyre_diag *diag);
VYRE_API void vyre_planner_destroy(vyre_planner *planner);
/* With how many threads large problems are planned, the caller's among them; 0, as a planner
 * begins: as many as there are cores to use. They are made by the first call that is large enough
 * and end with the planner. Plans are the same with every number. VYRE_LIMIT: more than 1,023. */
VYRE_API vyre_status vyre_planner_set_threads(vyre_planner *planner, uint32_t threads,
                                              vyre_diag *diag);
/* Why the last call with this planner failed; kind NONE after a success, and when the call itself
 * or a plan given to it was wrong. */
VYRE_API vyre_plan_fault vyre_planner_fault(const vyre_planner *planner);
/* Bytes the planner holds, without what its threads take; shrinks only when memory runs out. */
VYRE_API size_t vyre_planner_bytes(const vyre_planner *planner);

/* The fewest groups when memory does not matter: layer 0 holds the waves without predecessors in
 * ascending order, each later layer the waves whose last predecessor was in the layer before, in
 * order of discovery. O(waves + deps).
 * Errors, in this order of precedence: too large (VYRE_LIMIT), memory (VYRE_OUT_OF_MEMORY),
 * then the first bad dependency in list order, then a cycle (all VYRE_INVALID_INPUT). */
VYRE_API vyre_status vyre_plan_barriers(vyre_planner *planner, uint32_t wave_count,
                                        const vyre_wave_dep *deps, size_t dep_count,
                                        vyre_plan *out_plan, vyre_diag *diag);

typedef struct vyre_plan_progress {
    const char *phase; /* "heuristics", "search", "peak" */
    uint32_t groups;   /* of the best plan so far */
    uint32_t lower_bound;
    uint64_t nodes;
    uint64_t node_limit;
} vyre_plan_progress;

typedef struct vyre_plan_options {
    vyre_plan_mode mode; /* PACKED or LAYERED */
    /* How hard to search: partial plans looked at. 0 means VYRE_PLAN_NODES, which bounds the time
     * to seconds; UINT64_MAX searches until the plan is proven or memory_limit is reached. */
    uint64_t node_limit;
    /* Bytes the exact search may use to remember partial plans; 0 means VYRE_PLAN_MEMORY. */
    size_t memory_limit;
    /* Polled while searching: when it becomes non-zero the best plan so far is returned. May be set
     * by a signal handler. */
    const volatile int *cancel;
    /* Called now and then while searching, from the calling thread. */
    void (*progress)(void *user, const vyre_plan_progress *progress);
    void *user;
} vyre_plan_options;

#define VYRE_PLAN_NODES  ((uint64_t)1 << 20)
#define VYRE_PLAN_MEMORY ((size_t)256 << 20)

/* Plans under the budget. `options` may be NULL.
 *
 * layered: the layers of vyre_plan_barriers, each cut into groups by filling one group until the
 *   next wave does not fit. O(waves + deps).
 * packed: never more groups than layered; among plans with the fewest groups found, one with a low
 *   peak_group. O((waves + deps) log waves) time and O(waves + deps) memory, plus the search
 *   bounded by node_limit and memory_limit.
 *
 * Errors: those of vyre_plan_barriers first; then VYRE_CHECK_FAILED when the resident graph or a
 * wave by itself exceeds the budget (in any order of waves), VYRE_INVALID_INPUT when a cost
 * exceeds 64 bits. */
VYRE_API vyre_status vyre_plan_waves(vyre_planner *planner, const vyre_wave_set *set,
                                     const vyre_plan_options *options, vyre_plan *out_plan,
                                     vyre_diag *diag);

/* Checks a plan from any source against the waves, sharing no code with the planner: every wave
 * once, every dependency to a later group, every group within the budget. VYRE_CHECK_FAILED names
 * the first violation. Only the five structural fields of the plan are looked at. */
VYRE_API vyre_status vyre_plan_check(const vyre_wave_set *set, const vyre_plan *plan,
                                     const vyre_allocator *allocator, vyre_diag *diag);

/* ---- Lifetimes ------------------------------------------------------------------------------ */

/* Where a wave's memory lies in the arena. Frontier and scratch (four times its bytes) live during
 * the wave's group, the output until the group of its last consumer. Buffers that live at the same
 * time do not overlap; an empty buffer lies at 0. */
typedef struct vyre_wave_memory {
    uint64_t frontier;
    uint64_t scratch;
    uint64_t output;
    uint32_t last_group; /* in which the output is still needed */
} vyre_wave_memory;

/* Memory of a whole schedule in one arena. Made by a planner and valid until the next call with
 * that planner other than the one that made the plan. The resident graph is at offset 0. */
typedef struct vyre_plan_memory {
    const vyre_wave_memory *waves;
    uint64_t peak_bytes;  /* most bytes alive at a time: no arena can be smaller */
    uint32_t peak_group;  /* the group in which that happens */
    uint64_t arena_bytes; /* size of the arena the offsets need */
    bool optimal; /* no smaller arena exists; else at most arena_bytes - lower_bound too big */
    uint64_t lower_bound; /* peak_bytes, or more when the search proved more */
} vyre_plan_memory;

typedef struct vyre_plan_memory_options {
    bool keep_results;   /* outputs nobody consumes stay until the end, not only for their group */
    uint64_t alignment;  /* of every offset: a power of two; 0 means 1 */
    uint64_t node_limit; /* of the search for the smallest arena; 0 means VYRE_PLAN_NODES */
} vyre_plan_memory_options;

/* Lays out the memory of a plan: the planner's own, which stays valid, or any other that passes
 * vyre_plan_check; the rest is refused like there. The budget is a limit on groups, and outputs
 * that wait for later groups come on top of it here, so compare arena_bytes with what the device
 * has. VYRE_INVALID_INPUT when the sum of all buffers exceeds 64 bits. O((waves + deps) log waves),
 * plus a search for small plans. */
VYRE_API vyre_status vyre_plan_memory_layout(vyre_planner *planner, const vyre_wave_set *set,
                                             const vyre_plan *plan,
                                             const vyre_plan_memory_options *options,
                                             vyre_plan_memory *out_memory, vyre_diag *diag);

/* ---- Choosing a budget ---------------------------------------------------------------------- */

/* One point of the curve: with `budget_bytes` there is a plan of `groups` groups. */
typedef struct vyre_plan_point {
    uint64_t budget_bytes;
    uint32_t groups;
    uint32_t barriers;
    uint32_t lower_bound;
    bool optimal;
} vyre_plan_point;

/* Barriers against budget, from the smallest budget any plan fits to the one from which on more
 * memory does not help; set->budget_bytes is not looked at. Writes at most `capacity` points (>= 2)
 * in ascending order of budget; groups never increase along it. Each point is one plan, so the time
 * is capacity times that of vyre_plan_waves with the same options. */
VYRE_API vyre_status vyre_plan_curve(vyre_planner *planner, const vyre_wave_set *set,
                                     const vyre_plan_options *options, vyre_plan_point *points,
                                     uint32_t capacity, uint32_t *out_count, vyre_diag *diag);

/* ---- Showing plans -------------------------------------------------------------------------- */

typedef enum vyre_plan_format {
    VYRE_PLAN_TABLE =
        0,              /* for people: groups, waves, bytes against the budget as bars, the bound */
    VYRE_PLAN_JSON = 1, /* one object, {"schema":1,"mode",...}, ending in a newline */
    VYRE_PLAN_DOT = 2,  /* graphviz: one cluster for each group */
    VYRE_PLAN_SVG = 3   /* a picture: groups over time, waves as boxes of their size */
} vyre_plan_format;

/* Receives text in pieces; false stops the writing and makes the call fail with VYRE_IO. */
typedef bool (*vyre_plan_writer)(void *user, const char *text, size_t length);

/* Writes a plan that passes vyre_plan_check. `memory` may be NULL; if given, the lifetimes are
 * shown too. */
VYRE_API vyre_status vyre_plan_write(const vyre_wave_set *set, const vyre_plan *plan,
                                     const vyre_plan_memory *memory, vyre_plan_format format,
                                     const vyre_allocator *allocator, vyre_plan_writer write,
                                     void *user, vyre_diag *diag);
/* Writes a curve as TABLE or JSON. */
VYRE_API vyre_status vyre_plan_curve_write(const vyre_plan_point *points, uint32_t count,
                                           vyre_plan_format format, const vyre_allocator *allocator,
                                           vyre_plan_writer write, void *user, vyre_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
