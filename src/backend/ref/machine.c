/* The machine: what each statement does, when lanes wait, and whose turn it is.
 *
 * A lane that reaches a barrier or a subgroup operation stops there. Whenever a lane stops or ends,
 * its subgroup and its group are looked at: if all their living lanes stand at the same statement,
 * by the same path of calls, it takes place; if they stand at different ones, no order of lanes
 * could go on, and the run fails: the check of the program should have refused it. A grid barrier
 * takes place when nothing else can run.
 *
 * Orders. Lanes are run in teams: one group after another, or the whole grid at once for the orders
 * that mix groups. A team takes turns in rounds over a list of lanes that can run; an order decides
 * how the list is arranged and how many statements a turn has. */
#include <fenv.h>
#include <string.h>
#include <time.h>

#include "backend/ref/machine.h"
#include "ir/waits.h"

enum { FUEL = 1024 }; /* steps between looks at the clock */

static uint64_t random_next(vyre_ref_machine *m) {
    uint64_t z = m->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static vyre_place place_of(const vyre_ref_machine *m, vyre_stmt stmt) {
    return vyre_program_stmt_place(m->args->program, stmt);
}

/* Called when m->fuel has run out, before the next step. */
static vyre_status refuel(vyre_ref_machine *m, const vyre_ref_lane *lane) {
    const vyre_ref_args *args = m->args;
    uint64_t fuel = FUEL;
    if (args->step_budget && args->step_budget - m->fuel_given < fuel) {
        fuel = args->step_budget - m->fuel_given;
    }
    vyre_place place = lane->pc < m->program->stmt_count ? place_of(m, lane->pc) : (vyre_place){0};
    if (fuel == 0) {
        return vyre_fail_at(m->diag, VYRE_STEP_BUDGET, "", place,
                            "give a larger budget, or look for a loop that does not end",
                            "the budget of steps is used up");
    }
    if (args->cancel && __atomic_load_n(args->cancel, __ATOMIC_RELAXED)) {
        return vyre_fail_at(m->diag, VYRE_CANCELLED, "", place, NULL, "the run was cancelled");
    }
    if (args->deadline_ns && now_ns() >= args->deadline_ns) {
        return vyre_fail_at(m->diag, VYRE_TIMEOUT, "", place,
                            "give more time, or look for a loop that does not end",
                            "the time for the run is over");
    }
    m->fuel = (uint32_t)fuel;
    m->fuel_given += fuel;
    return VYRE_OK;
}

/* Waiting and ending. */

static vyre_ref_subgroup *subgroup_of(const vyre_ref_machine *m, const vyre_ref_lane *lane) {
    return &m->subgroups[(size_t)lane->group * m->group_subgroups +
                         lane->local / VYRE_SUBGROUP_SIZE_FIXED];
}

static const char *name_of(const vyre_ref_machine *m, vyre_stmt stmt) {
    const vyre_stmt_node *s = &m->program->stmts[stmt];
    return s->op == VYRE_STMT_SUBGROUP ? vyre_subgroup_name((vyre_subgroup_op)s->sub)
           : vyre_is_reduction(s->op)  ? vyre_reduce_stmt_name(s)
           : s->op == VYRE_STMT_CALL   ? m->program->fns[s->fn].name
                                       : vyre_stmt_info_of((vyre_stmt_op)s->op)->spelling;
}

static void report_divergence(const vyre_ref_machine *m, const vyre_ref_lane *a,
                              const vyre_ref_lane *b) {
    vyre_stmt at = a->pc, other = b->pc;
    for (uint32_t i = 0; at == other && i < a->depth; i++) {
        at = a->calls[i];
        other = b->calls[i];
    }
    (void)vyre_fail_at(m->diag, VYRE_INTERNAL, "", place_of(m, at),
                       "this program should have been refused: please report it",
                       "lanes diverge: lane %llu waits at line %u (%s), lane %llu at line %u (%s)",
                       (unsigned long long)vyre_ref_number(m, a), place_of(m, at).line,
                       name_of(m, at), (unsigned long long)vyre_ref_number(m, b),
                       place_of(m, other).line, name_of(m, other));
}

static bool same_path(const vyre_ref_lane *a, const vyre_ref_lane *b) {
    return a->pc == b->pc && a->depth == b->depth &&
           (a->depth == 0 || memcmp(a->calls, b->calls, a->depth * sizeof *a->calls) == 0);
}

/* The first living lane of [first, first + count), if all of them stand where it does; else tells
 * how they diverge and gives NULL. There is a living one. */
static const vyre_ref_lane *agree(const vyre_ref_machine *m, uint32_t first, uint32_t count) {
    const vyre_ref_lane *leader = &m->lanes[first], *end = leader + count;
    while (leader->state == VYRE_REF_ENDED) {
        leader++;
    }
    for (const vyre_ref_lane *lane = leader; lane < end; lane++) {
        if (lane->state != VYRE_REF_ENDED &&
            (lane->state != leader->state || !same_path(lane, leader))) {
            report_divergence(m, leader, lane);
            return NULL;
        }
    }
    return leader;
}

/* Sends the living lanes of a range past the statement they stand at. */
static void release(vyre_ref_machine *m, uint32_t first, uint32_t count) {
    bool backwards = m->args->order == VYRE_REF_REVERSE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = backwards ? first + count - 1 - i : first + i;
        vyre_ref_lane *lane = &m->lanes[number];
        if (lane->state != VYRE_REF_ENDED) {
            lane->state = VYRE_REF_WOKEN;
            lane->pc++;
            m->woken[m->woken_count++] = number;
        }
    }
}

static vyre_status settle_subgroup(vyre_ref_machine *m, const vyre_ref_lane *lane) {
    uint32_t within = lane->local / VYRE_SUBGROUP_SIZE_FIXED * VYRE_SUBGROUP_SIZE_FIXED;
    uint32_t left = m->group_lanes - within;
    uint32_t count = left < VYRE_SUBGROUP_SIZE_FIXED ? left : VYRE_SUBGROUP_SIZE_FIXED;
    uint32_t first = lane->group * m->group_lanes + within;
    if (!agree(m, first, count)) {
        return VYRE_INTERNAL;
    }
    vyre_ref_subgroup_vote(m, &m->lanes[first], count);
    subgroup_of(m, lane)->voting = 0;
    release(m, first, count);
    return VYRE_OK;
}

static vyre_status settle_group(vyre_ref_machine *m, const vyre_ref_lane *lane) {
    vyre_ref_group *group = &m->groups[lane->group];
    uint32_t first = lane->group * m->group_lanes;
    const vyre_ref_lane *leader = agree(m, first, m->group_lanes);
    if (!leader) {
        return VYRE_INTERNAL;
    }
    const vyre_stmt_node *s = &m->program->stmts[leader->pc];
    if (s->op == VYRE_STMT_GROUP) {
        vyre_ref_reduce_group(m, s, lane->group);
    }
    if (vyre_waits_for_group(s->op)) {
        group->parked = 0;
        group->interval = ++m->group_intervals;
        for (uint32_t i = 0; i < m->group_subgroups; i++) {
            m->subgroups[(size_t)lane->group * m->group_subgroups + i].parked = 0;
        }
        release(m, first, m->group_lanes);
    }
    return VYRE_OK;
}

/* A lane of this subgroup and group has just stopped or ended. */
static vyre_status settle(vyre_ref_machine *m, const vyre_ref_lane *lane) {
    const vyre_ref_subgroup *subgroup = subgroup_of(m, lane);
    const vyre_ref_group *group = &m->groups[lane->group];
    if (subgroup->voting && subgroup->voting + subgroup->parked == subgroup->living) {
        return settle_subgroup(m, lane);
    }
    if (group->parked && group->parked == group->living) {
        return settle_group(m, lane);
    }
    return VYRE_OK;
}

static vyre_status park(vyre_ref_machine *m, vyre_ref_lane *lane) {
    lane->state = VYRE_REF_PARKED;
    subgroup_of(m, lane)->parked++;
    m->groups[lane->group].parked++;
    return settle(m, lane);
}

static vyre_status end_lane(vyre_ref_machine *m, vyre_ref_lane *lane) {
    lane->state = VYRE_REF_ENDED;
    vyre_ref_async_drop(m, lane);
    subgroup_of(m, lane)->living--;
    m->groups[lane->group].living -= 1;
    m->living--;
    return settle(m, lane);
}

/* Statements. */

static vyre_status trap(vyre_ref_machine *m, vyre_ref_lane *lane, uint64_t address) {
    uint64_t number = vyre_ref_number(m, lane);
    if (!m->trapped || number < m->trap_lane) {
        m->trapped = true;
        m->trap_lane = number;
        m->trap_address = address;
        m->trap_stmt = lane->pc;
    }
    return end_lane(m, lane);
}

static void enter_call(vyre_ref_machine *m, vyre_ref_lane *lane, const vyre_stmt_node *s) {
    const vyre_fn_node *fn = &m->program->fns[s->fn];
    for (uint32_t i = 0; i < s->arg_count; i++) {
        lane->slots[fn->first_var + i] = vyre_ref_operand(m, s, m->program->args[s->first_arg + i]);
    }
    lane->calls[lane->depth++] = lane->pc;
    lane->pc = fn->begin;
    lane->end = fn->end;
}

/* Leaves the body the lane is in, with the result of a function that has one. */
static vyre_status leave(vyre_ref_machine *m, vyre_ref_lane *lane, uint64_t result) {
    if (lane->depth == 0) {
        return end_lane(m, lane);
    }
    const vyre_program_view *p = m->program;
    vyre_stmt call = lane->calls[--lane->depth];
    if (p->stmts[call].var != VYRE_NONE) {
        lane->slots[p->stmts[call].var] = result;
    }
    lane->pc = call + 1;
    lane->end = lane->depth ? p->fns[p->stmts[lane->calls[lane->depth - 1]].fn].end : p->stmt_count;
    return VYRE_OK;
}

static void begin_for(vyre_ref_machine *m, vyre_ref_lane *lane, const vyre_stmt_node *s) {
    uint64_t from = vyre_ref_operand(m, s, s->arg[0]);
    uint64_t to = vyre_ref_operand(m, s, s->arg[1]);
    uint64_t step = s->arg[2] == VYRE_NONE ? 1 : vyre_ref_operand(m, s, s->arg[2]);
    lane->slots[s->var] = from;
    lane->slots[m->aux[lane->pc]] = to;
    lane->slots[m->aux[lane->pc] + 1] = step;
    lane->pc = from < to && step != 0 ? lane->pc + 1 : s->match + 1;
}

/* The END of a scope: loops go round. The next value of a counted loop is a 64-bit sum of 32-bit
 * numbers, so that passing 2^32 ends the loop like passing its end does. */
static void end_scope(vyre_ref_machine *m, vyre_ref_lane *lane, const vyre_stmt_node *s) {
    const vyre_stmt_node *opener = &m->program->stmts[s->match];
    if (opener->op == VYRE_STMT_WHILE) {
        lane->pc = s->match;
        return;
    }
    if (opener->op == VYRE_STMT_FOR) {
        const uint64_t *bounds = &lane->slots[m->aux[s->match]];
        uint64_t next = lane->slots[opener->var] + bounds[1];
        if (next < bounds[0]) {
            lane->slots[opener->var] = next;
            lane->pc = s->match + 1;
            return;
        }
    }
    lane->pc++;
}

/* A store evaluates and writes in one turn, except in the orders that switch between statements:
 * there the write is a turn of its own, so that `x[0] = x[0] + 1` can lose an update. */
static void step_store(vyre_ref_machine *m, vyre_ref_lane *lane, const vyre_stmt_node *s) {
    if (!lane->committing) {
        lane->selector = (uint32_t)vyre_ref_operand(m, s, s->arg[0]);
        lane->value = vyre_ref_operand(m, s, s->arg[1]);
        if (lane->selector >= m->arrays[s->decl].count) {
            vyre_ref_outside(m, lane, s->decl, s->first_expr, s->arg[0], true);
        }
        if (m->args->order == VYRE_REF_RANDOM || m->args->order == VYRE_REF_INTERLEAVED) {
            lane->committing = true;
            m->fuel++; /* still one statement */
            return;
        }
    }
    lane->committing = false;
    vyre_ref_memory_store(m, lane, s->decl, lane->selector, lane->value);
    lane->pc++;
}

static vyre_status step(vyre_ref_machine *m, vyre_ref_lane *lane) {
    if (lane->pc == lane->end) {
        return leave(m, lane, 0);
    }
    const vyre_stmt_node *s = &m->program->stmts[lane->pc];
    if (!lane->committing) {
        vyre_ref_eval(m, lane, s->first_expr, s->end_expr);
    }
    vyre_status status = VYRE_OK;
    switch ((vyre_stmt_op)s->op) {
    case VYRE_STMT_LET:
    case VYRE_STMT_ASSIGN:
        lane->slots[s->var] = vyre_ref_operand(m, s, s->arg[0]);
        lane->pc++;
        break;
    case VYRE_STMT_STORE: step_store(m, lane, s); break;
    case VYRE_STMT_ATOMIC: {
        uint64_t old = vyre_ref_memory_atomic(m, lane, s);
        if (s->var != VYRE_NONE) {
            lane->slots[s->var] = old;
        }
        lane->pc++;
        break;
    }
    case VYRE_STMT_SUBGROUP:
        lane->value = vyre_ref_operand(m, s, s->arg[0]);
        lane->selector = s->arg[1] == VYRE_NONE ? 0 : (uint32_t)vyre_ref_operand(m, s, s->arg[1]);
        lane->state = VYRE_REF_VOTING;
        subgroup_of(m, lane)->voting++;
        return settle(m, lane);
    case VYRE_STMT_GROUP:
    case VYRE_STMT_GRID:
        lane->value = vyre_ref_operand(m, s, s->arg[0]);
        lane->selector = s->arg[1] == VYRE_NONE ? 0 : (uint32_t)vyre_ref_operand(m, s, s->arg[1]);
        return park(m, lane);
    case VYRE_STMT_CALL: enter_call(m, lane, s); break;
    case VYRE_STMT_IF:
    case VYRE_STMT_WHILE:
        lane->pc = vyre_ref_operand(m, s, s->arg[0]) != 0 ? lane->pc + 1 : s->match + 1;
        break;
    case VYRE_STMT_ELSE: lane->pc = s->match + 1; break;
    case VYRE_STMT_FOR: begin_for(m, lane, s); break;
    case VYRE_STMT_END: end_scope(m, lane, s); break;
    case VYRE_STMT_BREAK: lane->pc = m->program->stmts[s->match].match + 1; break;
    case VYRE_STMT_CONTINUE: lane->pc = m->program->stmts[s->match].match; break;
    case VYRE_STMT_EXIT: return end_lane(m, lane);
    case VYRE_STMT_RETURN:
        return leave(m, lane, s->arg[0] == VYRE_NONE ? 0 : vyre_ref_operand(m, s, s->arg[0]));
    case VYRE_STMT_TRAP: return trap(m, lane, vyre_ref_operand(m, s, s->arg[0]));
    case VYRE_STMT_ASYNC_LOAD:
    case VYRE_STMT_ASYNC_STORE:
        status = vyre_ref_async_begin(m, lane, s);
        lane->pc++;
        break;
    case VYRE_STMT_ASYNC_WAIT:
        vyre_ref_async_wait(m, lane);
        lane->pc++;
        break;
    case VYRE_STMT_BARRIER:
    case VYRE_STMT_GRID_SYNC:
    case VYRE_STMT_ALL_REDUCE:
    case VYRE_STMT_ALL_GATHER:
    case VYRE_STMT_REDUCE_SCATTER:
    case VYRE_STMT_BROADCAST:
    case VYRE_STMT_SWAP: return park(m, lane);
    case VYRE_STMT_BLOCK:
    case VYRE_STMT_REGION:
    case VYRE_STMT_INDIRECT_DISPATCH: /* the caller has read the grid from it */ lane->pc++; break;
    case VYRE_STMT_PART: /* splitting makes other programs of them */
    case VYRE_STMT_COMBINE:
    case VYRE_STMT_BASE:
    case VYRE_STMT_COUNT: break;
    }
    return status;
}

/* Turns. */

static vyre_status run_lane(vyre_ref_machine *m, vyre_ref_lane *lane, uint64_t turns) {
    vyre_status status = VYRE_OK;
    while (turns-- > 0 && lane->state == VYRE_REF_RUNNING && status == VYRE_OK) {
        if (m->fuel == 0 && (status = refuel(m, lane)) != VYRE_OK) {
            break;
        }
        m->fuel--;
        status = step(m, lane);
    }
    return status;
}

static void shuffle(vyre_ref_machine *m, uint32_t *list, uint32_t count) {
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = (uint32_t)(random_next(m) % i);
        uint32_t swap = list[i - 1];
        list[i - 1] = list[j];
        list[j] = swap;
    }
}

/* How many statements a lane may execute at its turn. Random turns have lengths of all magnitudes,
 * often none, so that a lane may run far ahead of another or fall far behind. */
static uint64_t turn_length(vyre_ref_machine *m) {
    switch (m->args->order) {
    case VYRE_REF_RANDOM: return (UINT64_C(1) << random_next(m) % 12) >> 2;
    case VYRE_REF_INTERLEAVED: return 1;
    case VYRE_REF_FORWARD:
    case VYRE_REF_REVERSE: break;
    }
    return UINT64_MAX;
}

/* Runs lanes [first, first + count) until all have ended or wait for the grid. */
static vyre_status run_team(vyre_ref_machine *m, uint32_t first, uint32_t count) {
    vyre_ref_order order = m->args->order;
    uint32_t active = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = order == VYRE_REF_REVERSE ? first + count - 1 - i : first + i;
        if (m->lanes[number].state == VYRE_REF_RUNNING) {
            m->active[active++] = number;
        }
    }
    while (active) {
        if (order == VYRE_REF_RANDOM) {
            shuffle(m, m->active, active);
        }
        uint32_t kept = 0;
        for (uint32_t i = 0; i < active; i++) {
            vyre_ref_lane *lane = &m->lanes[m->active[i]];
            vyre_status status = run_lane(m, lane, turn_length(m));
            if (status != VYRE_OK) {
                return status;
            }
            if (lane->state == VYRE_REF_RUNNING) {
                m->active[kept++] = m->active[i];
            }
        }
        for (uint32_t i = 0; i < m->woken_count; i++) {
            m->lanes[m->woken[i]].state = VYRE_REF_RUNNING;
            m->active[kept++] = m->woken[i];
        }
        m->woken_count = 0;
        active = kept;
    }
    return VYRE_OK;
}

static vyre_status fail_trapped(const vyre_ref_machine *m) {
    return vyre_fail_at(m->diag, VYRE_TRAP, "", place_of(m, m->trap_stmt), NULL,
                        "lane %llu trapped: \"%s\" at address %llu (0x%llx)",
                        (unsigned long long)m->trap_lane, m->program->stmts[m->trap_stmt].text,
                        (unsigned long long)m->trap_address, (unsigned long long)m->trap_address);
}

/* All living lanes wait for the grid: the barrier or collective takes place. */
static vyre_status pass_grid_barrier(vyre_ref_machine *m) {
    if (m->trapped) {
        return fail_trapped(m);
    }
    const vyre_ref_lane *leader = agree(m, 0, m->lane_count);
    if (!leader) {
        return VYRE_INTERNAL;
    }
    const vyre_stmt_node *s = &m->program->stmts[leader->pc];
    if (vyre_is_reduction(s->op)) {
        vyre_ref_reduce_grid(m, s);
    } else {
        vyre_ref_collective(m, s);
    }
    m->result.grid_syncs++;
    if (m->args->barriers) {
        (void)__atomic_fetch_add(m->args->barriers, 1, __ATOMIC_RELAXED);
    }
    m->interval += 1;
    for (uint32_t i = 0; i < m->resident; i++) {
        m->groups[i].parked = 0;
        m->groups[i].interval = ++m->group_intervals;
    }
    for (size_t i = 0; i < (size_t)m->resident * m->group_subgroups; i++) {
        m->subgroups[i].parked = 0;
    }
    for (uint32_t i = 0; i < m->lane_count; i++) {
        if (m->lanes[i].state != VYRE_REF_ENDED) {
            m->lanes[i].state = VYRE_REF_RUNNING;
            m->lanes[i].pc++;
        }
    }
    return VYRE_OK;
}

/* Runs the resident groups to their end. */
static vyre_status run_resident(vyre_ref_machine *m) {
    bool together = m->args->order == VYRE_REF_RANDOM || m->args->order == VYRE_REF_INTERLEAVED;
    uint32_t teams = together ? 1 : m->resident;
    uint32_t lanes = together ? m->lane_count : m->group_lanes;
    for (;;) {
        for (uint32_t i = 0; i < teams; i++) {
            uint32_t team = m->args->order == VYRE_REF_REVERSE ? teams - 1 - i : i;
            vyre_status status = run_team(m, team * lanes, lanes);
            if (status != VYRE_OK) {
                return status;
            }
        }
        if (m->living == 0) {
            return VYRE_OK;
        }
        vyre_status status = pass_grid_barrier(m);
        if (status != VYRE_OK) {
            return status;
        }
    }
}

static vyre_status run_grid(vyre_ref_machine *m) {
    m->interval = 1;
    for (uint64_t i = 0; i < m->group_count; i += m->resident) {
        uint64_t group = m->args->order == VYRE_REF_REVERSE ? m->group_count - m->resident - i : i;
        vyre_ref_machine_start(m, group);
        vyre_status status = run_resident(m);
        if (status != VYRE_OK) {
            return status;
        }
    }
    return m->trapped ? fail_trapped(m) : VYRE_OK;
}

vyre_status vyre_ref_execute(const vyre_ref_args *args, const vyre_allocator *allocator,
                             vyre_ref_result *out_result, vyre_diag *diag) {
    if (!args || !args->program || !out_result || (unsigned)args->order > VYRE_REF_INTERLEAVED) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, NULL,
                         "vyre_ref_execute needs args with a program and an order, and a result");
    }
    vyre_ref_machine m = {
        .args = args,
        .program = vyre_program_get(args->program),
        .allocator = vyre_allocator_or_system(allocator),
        .diag = diag,
    };
    /* The host may have set another rounding mode or flush subnormals to zero. */
    fenv_t host;
    fegetenv(&host);
    fesetenv(FE_DFL_ENV);
    vyre_status status = vyre_ref_machine_init(&m);
    status = status == VYRE_OK ? run_grid(&m) : status;
    fesetenv(&host);
    if (status == VYRE_OK) {
        vyre_ref_races_report(&m);
    }
    if (status == VYRE_OK || status == VYRE_TRAP) {
        m.result.trap_lane = m.trap_lane;
        m.result.steps = m.fuel_given - m.fuel;
        *out_result = m.result;
    }
    vyre_ref_machine_finish(&m);
    return status;
}
