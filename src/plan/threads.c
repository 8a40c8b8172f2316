/* The threads of a planner. A planner makes them with the first problem that is large enough and
 * keeps them, asleep, for the next. Plans do not depend on them, so whatever keeps them away (no
 * memory, no more threads in the system, fork()) costs time and nothing else. */
#include "plan/planner.h"

#include "kit/cores.h"

enum { THREAD_DEPS = 1 << 15 }; /* with fewer for each, waking a thread costs what it saves */

vyre_status vyre_planner_set_threads(vyre_planner *planner, uint32_t threads, vyre_diag *diag) {
    if (!planner) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, "see vyre/plan.h", "planner is NULL");
    }
    if (threads > VYRE_BARRIER_MOST_THREADS) {
        return vyre_fail(diag, VYRE_LIMIT, "ask for fewer", "%u threads are more than %d",
                         (unsigned)threads, VYRE_BARRIER_MOST_THREADS);
    }
    vyre_team_destroy(planner->team);
    planner->team = NULL;
    planner->threads = threads;
    return VYRE_OK;
}

/* As many as are asked for, or as there are cores. */
static uint32_t most_workers(vyre_planner *planner) {
    if (planner->threads == 0) {
        planner->threads = vyre_cores_now(NULL).available;
    }
    return planner->threads < VYRE_PLAN_MOST_WORKERS ? planner->threads : VYRE_PLAN_MOST_WORKERS;
}

uint32_t vyre_plan_workers(vyre_planner *planner, size_t dep_count) {
    const size_t useful = dep_count / THREAD_DEPS;
    if (useful < 2) {
        return 1;
    }
    const uint32_t most = most_workers(planner);
    return useful < most ? (uint32_t)useful : most;
}

static bool has_team(vyre_planner *planner) {
    const vyre_team_options options = {.threads = most_workers(planner)};
    return planner->team ||
           vyre_team_create(&options, &planner->allocator, &planner->team, NULL) == VYRE_OK;
}

static bool run_with_team(vyre_planner *planner, uint32_t workers, vyre_team_job job, void *arg) {
    return has_team(planner) &&
           vyre_team_run(planner->team, workers, job, arg, NULL, NULL) == VYRE_OK;
}

void vyre_plan_run(vyre_planner *planner, uint32_t workers, vyre_team_job job, void *arg) {
    if (workers > 1) {
        if (run_with_team(planner, workers, job, arg)) {
            return;
        }
        /* After fork() the threads are in the parent: this process makes its own. */
        vyre_team_destroy(planner->team);
        planner->team = NULL;
        if (run_with_team(planner, workers, job, arg)) {
            return;
        }
    }
    vyre_worker alone = {.count = 1};
    job(&alone, arg);
}
