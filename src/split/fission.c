/* Fission: a program with barriers becomes a module.
 *
 *     inline calls -> operations over the scope in parts -> lower pending copies -> lower jumps
 * that not all take -> versions of variables apart -> remove barriers -> bases of values -> blocks
 * -> what is alive and where -> a segment per block
 *
 * Each block is a step, and they have the same numbers. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "ir/waits.h"
#include "lower/inline.h"
#include "lower/lower_async.h"
#include "lower/lower_continue.h"
#include "lower/lower_even.h"
#include "lower/lower_grid.h"
#include "lower/rewrites.h"
#include "lower/settle.h"
#include "opt/webs.h"
#include "split/chunks.h"
#include "split/control.h"
#include "split/control_segment.h"
#include "split/lives.h"
#include "split/module.h"
#include "split/segment.h"
#include "split/turn.h"

/* What the names that splitting adds begin with, behind the prefix. */
static const char *const stems[] = {
    "at",    "combine", "expect", "group",   "if",   "lane", "loop",    "made", "next", "old",
    "parts", "rank",    "raw",    "restore", "same", "save", "scalars", "tick", "turn", "values"};

static bool may_clash(const char *name, const char *prefix) {
    size_t length = strlen(prefix);
    bool clash = false;
    for (uint32_t i = 0; strncmp(name, prefix, length) == 0 && i < sizeof stems / sizeof *stems;
         i++) {
        clash |= strncmp(name + length, stems[i], strlen(stems[i])) == 0;
    }
    return clash;
}

static bool is_free(const vyre_program_view *p, const char *prefix) {
    bool clash = false;
    for (uint32_t i = 0; i < p->decl_count && !clash; i++) {
        clash = may_clash(p->decls[i].name, prefix);
    }
    for (uint32_t i = 0; i < p->var_count && !clash; i++) {
        clash = may_clash(p->vars[i].name, prefix);
    }
    for (vyre_stmt s = p->entry; s < p->stmt_count && !clash; s++) { /* tags of copies */
        clash = p->stmts[s].text && may_clash(p->stmts[s].text, prefix);
    }
    return !clash;
}

/* One prefix for all added names, so that none is a name of the source. */
static void choose_names(const vyre_program_view *p, vyre_module_names *names) {
    (void)snprintf(names->prefix, sizeof names->prefix, "_");
    for (uint32_t i = 2; !is_free(p, names->prefix); i++) {
        (void)snprintf(names->prefix, sizeof names->prefix, "_%lu_", (unsigned long)i);
    }
    struct {
        char *to;
        const char *stem;
    } added[] = {
        {names->lane, "lane"},   {names->group_memory, "group"}, {names->values, "values"},
        {names->lanes, "lanes"}, {names->next, "next"},          {names->tick, "tick"},
        {names->at, "at"},       {names->rank, "rank"},          {names->made, "made"},
        {names->raw, "raw"},     {names->condition, "if"},       {names->scalars, "scalars"},
        {names->turn, "turn"},   {names->expect, "expect"},      {names->parts, "parts"}};
    for (uint32_t i = 0; i < sizeof added / sizeof *added; i++) {
        (void)snprintf(added[i].to, VYRE_MODULE_NAME, "%s%s", names->prefix, added[i].stem);
    }
    for (uint32_t axis = 0; axis < 3; axis++) {
        (void)snprintf(names->group[axis], VYRE_MODULE_NAME, "%sgroup_%c", names->prefix,
                       "xyz"[axis]);
        (void)snprintf(names->groups[axis], VYRE_MODULE_NAME, "%sgroups_%c", names->prefix,
                       "xyz"[axis]);
    }
}

/* Index of the barrier among those that were kept, or VYRE_NONE. */
static uint32_t find_kept(const vyre_barriers *barriers, vyre_stmt sync) {
    uint32_t low = 0, high = barriers->kept.count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (barriers->kept.data[middle].stmt < sync) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const bool found = low < barriers->kept.count && barriers->kept.data[low].stmt == sync;
    return found ? low : VYRE_NONE;
}

/* Besides scalars. */
static bool is_changing(const vyre_segment_decl *decl) {
    return decl->kind == VYRE_DECL_PLACE || decl->kind == VYRE_DECL_TICK ||
           decl->kind == VYRE_DECL_EXPECT;
}

/* Declarations of the segment that are bound anew by each launch. */
bool vyre_module_list_changing(vyre_module *m, uint32_t segment) {
    const uint32_t decls = vyre_program_get(m->segments[segment])->decl_count;
    bool ok = true;
    for (uint32_t d = 0; d < decls && ok; d++) {
        const vyre_segment_decl *decl = &m->decls[segment][d];
        const vyre_changing changing = {.decl = d, .ref = decl->ref, .kind = decl->kind};
        if (decl->kind == VYRE_DECL_SOURCE && m->place_of && m->place_of[decl->ref] != VYRE_NONE) {
            const vyre_changing moves = {
                .decl = d, .ref = m->place_of[decl->ref], .kind = VYRE_DECL_PLACE};
            ok = vyre_vec_push(&m->allocator, &m->changing[segment].others, moves);
        } else if (decl->kind == VYRE_DECL_SCALAR) {
            ok = vyre_vec_push(&m->allocator, &m->changing[segment].scalars, changing);
        } else if (is_changing(decl)) {
            ok = vyre_vec_push(&m->allocator, &m->changing[segment].others, changing);
        }
    }
    return ok;
}

/* Gives places to what is swapped anywhere in the source. */
static bool find_swapped(vyre_module *m) {
    const vyre_program_view *p = vyre_program_get(m->source);
    if (!(p->stats.stmt_kinds >> VYRE_STMT_SWAP & 1)) {
        return true;
    }
    m->place_room = m->swapped_room = p->decl_count;
    m->place_of = vyre_alloc(&m->allocator, m->place_room, sizeof *m->place_of);
    m->swapped = vyre_alloc(&m->allocator, m->swapped_room, sizeof *m->swapped);
    if (!m->place_of || !m->swapped) {
        return false;
    }
    memset(m->place_of, 0xff, m->place_room * sizeof *m->place_of);
    for (vyre_stmt s = p->entry; s < p->stmt_count; s++) {
        const vyre_decl both[2] = {p->stmts[s].decl, p->stmts[s].decl2};
        for (int i = 0; i < 2 && p->stmts[s].op == VYRE_STMT_SWAP; i++) {
            if (m->place_of[both[i]] == VYRE_NONE) {
                m->place_of[both[i]] = VYRE_PLACES + m->view.swapped_count;
                m->swapped[m->view.swapped_count++] = both[i];
            }
        }
    }
    m->view.swapped = m->swapped;
    return true;
}

/* Of one size, and zero when the pass begins; the list has room for three of each step. */
static void add_exchanges(vyre_module *m, vyre_step *step, const vyre_block *block,
                          const vyre_segment *segment) {
    step->exchange_begin = m->view.exchange_count;
    if (segment->flips) {
        m->exchanges[m->view.exchange_count++] =
            (vyre_exchange){VYRE_PLACE_VALUES, VYRE_PLACE_NEXT};
    }
    if (segment->makes) {
        m->exchanges[m->view.exchange_count++] = (vyre_exchange){VYRE_PLACE_MADE, VYRE_PLACE_SPARE};
    }
    const vyre_stmt_node *n =
        block->sync == VYRE_NONE ? NULL : &vyre_program_get(m->source)->stmts[block->sync];
    if (n && n->op == VYRE_STMT_SWAP) {
        m->exchanges[m->view.exchange_count++] =
            (vyre_exchange){m->place_of[n->decl], m->place_of[n->decl2]};
    }
    step->exchange_end = m->view.exchange_count;
}

static vyre_status build_steps(vyre_module *m, const vyre_blocks *blocks, vyre_segment_maker *maker,
                               vyre_diag *diag) {
    for (uint32_t i = 0; i < m->view.step_count; i++) {
        const vyre_block *block = &blocks->list.data[i];
        vyre_step *step = &m->steps[i];
        vyre_segment segment;
        vyre_status status = vyre_segment_build(maker, i, m->view.segment_count, &segment, diag);
        if (status != VYRE_OK) {
            return status;
        }
        step->segment = VYRE_NONE;
        if (segment.program) {
            step->segment = m->view.segment_count;
            m->segments[m->view.segment_count] = segment.program;
            m->decls[m->view.segment_count++] = segment.decls;
            if (!vyre_module_list_changing(m, step->segment)) {
                return vyre_fail_memory(diag, "splitting");
            }
        }
        add_exchanges(m, step, block, &segment);
        step->kind = block->exit == VYRE_EXIT_NEXT     ? VYRE_STEP_NEXT
                     : block->exit == VYRE_EXIT_BRANCH ? VYRE_STEP_BRANCH
                                                       : VYRE_STEP_END;
        step->next = block->next;
        step->otherwise = block->otherwise;
        step->sync = block->sync != VYRE_NONE;
        step->collective = VYRE_NONE;
        const uint8_t sync =
            step->sync ? vyre_program_get(m->source)->stmts[block->sync].op : VYRE_STMT_GRID_SYNC;
        if (vyre_is_collective(sync) && sync != VYRE_STMT_SWAP) {
            step->collective = block->sync;
        }
        step->combine = vyre_block_combines(blocks, block, vyre_program_get(m->source));
        step->kept = find_kept(&m->barriers, block->sync);
        vyre_stmt at = step->sync ? block->sync : block->condition;
        step->place = vyre_program_stmt_place(m->source, at);
        step->condition = block->exit == VYRE_EXIT_BRANCH ? block->condition : VYRE_NONE;
        step->region = block->region;
        m->view.sync_points += step->sync;
    }
    return VYRE_OK;
}

/* What is known before there are segments: behind which steps the schedule asks for life, and
 * which steps of a module that is launched ahead are decided by the device. */
static void find_doubtful(vyre_module *m, const vyre_blocks *blocks, const vyre_carry_plan *plan) {
    for (uint32_t i = 0; i < m->view.step_count; i++) {
        vyre_step *step = &m->steps[i];
        const bool branches = blocks->list.data[i].exit == VYRE_EXIT_BRANCH;
        step->asks = plan->ends[i] & VYRE_ASKS_FOR_LIFE;
        step->control = VYRE_NONE;
        step->doubtful =
            m->view.ahead && (step->asks || (branches && !m->scalars[step->decides].host));
        m->view.checks_turn |= step->doubtful;
    }
}

static vyre_status make_steps(vyre_module *m, const vyre_blocks *blocks,
                              const vyre_carry_plan *plan, vyre_diag *diag) {
    const vyre_allocator *a = &m->allocator;
    m->view.region_count = blocks->regions.count;
    m->regions = vyre_alloc(a, m->view.region_count, sizeof *m->regions);
    m->steps = vyre_alloc_zeroed(a, m->view.step_count, sizeof *m->steps);
    m->segment_room = 2 * (size_t)m->view.step_count;
    m->segments = vyre_alloc_zeroed(a, m->segment_room, sizeof(*m->segments));
    m->decls = vyre_alloc_zeroed(a, m->segment_room, sizeof(*m->decls));
    m->changing = vyre_alloc_zeroed(a, m->segment_room, sizeof(*m->changing));
    m->exchange_room = 3 * (size_t)m->view.step_count;
    m->exchanges = vyre_alloc_zeroed(a, m->exchange_room, sizeof *m->exchanges);
    if (!m->regions || !m->steps || !m->segments || !m->decls || !m->changing || !m->exchanges ||
        !find_swapped(m)) {
        return vyre_fail_memory(diag, "splitting");
    }
    if (m->view.region_count > 0) {
        memcpy(m->regions, blocks->regions.data, m->view.region_count * sizeof *m->regions);
    }
    vyre_segment_maker *maker = NULL;
    vyre_status status = vyre_control_build(m, plan, diag);
    if (status == VYRE_OK) {
        find_doubtful(m, blocks, plan);
        status = vyre_segment_maker_create(m, plan, &maker, diag);
    }
    if (status == VYRE_OK) {
        status = build_steps(m, blocks, maker, diag);
        vyre_segment_maker_destroy(maker);
    }
    if (status == VYRE_OK && m->view.ahead) {
        status = vyre_control_segments(m, diag);
    }
    if (status == VYRE_OK && !vyre_module_list_carries(m, plan)) {
        status = vyre_fail_memory(diag, "splitting");
    }
    return status;
}

static vyre_status fill(vyre_module *m, const vyre_blocks *blocks, const vyre_carry_plan *plan,
                        vyre_diag *diag) {
    m->view.step_count = blocks->list.count;
    vyre_status status = make_steps(m, blocks, plan, diag);
    m->view.source = m->source;
    m->view.segments = (const vyre_program *const *)m->segments;
    m->view.decls = (const vyre_segment_decl *const *)m->decls;
    m->view.control = m->control;
    m->view.scalars = m->scalars;
    m->view.exchanges = m->exchanges;
    m->view.steps = m->steps;
    m->view.carries = m->carries;
    m->view.lives = m->lives.data;
    m->view.live_count = m->lives.count;
    m->view.regions = m->regions;
    m->view.removed = m->barriers.removed.data;
    m->view.removed_count = m->barriers.removed.count;
    m->view.kept = m->barriers.kept.data;
    m->view.kept_count = m->barriers.kept.count;
    m->view.along_x = m->barriers.along_x;
    m->view.group_value_words = plan->group_value_words;
    m->view.made_words = plan->made_words;
    m->view.part_words = plan->part_words;
    return status;
}

static vyre_status split_blocks(vyre_module *m, const vyre_split_options *options,
                                vyre_diag *diag) {
    const vyre_allocator *a = &m->allocator;
    const vyre_program_view *p = vyre_program_get(m->source);
    choose_names(p, &m->names);
    vyre_blocks blocks;
    m->view.scope = options->scope;
    m->view.ahead = options->ahead && options->scope == VYRE_SPLIT_SCOPE_GRID;
    vyre_status status =
        vyre_blocks_init(&blocks, p, options->scope, m->cuts.data, m->cuts.count, a);
    if (status == VYRE_OK) {
        vyre_carry_plan plan;
        status = vyre_carry_init(&plan, m->source, &blocks, &m->bases, a, diag);
        if (status == VYRE_OK) {
            status = vyre_chunks_init(m, &plan, options, diag);
            status = status == VYRE_OK ? fill(m, &blocks, &plan, diag) : status;
            vyre_carry_finish(&plan, a);
        }
        vyre_blocks_finish(&blocks, a);
    } else {
        (void)vyre_fail_memory(diag, "splitting");
    }
    return status;
}

/* Statements at which the grid waits, after a rewrite that keeps their order. */
static void find_waits_again(vyre_module *m, const vyre_program_view *before) {
    const vyre_program_view *now = vyre_program_get(m->source);
    uint32_t kept = 0, cut = 0;
    vyre_stmt at = now->entry;
    for (vyre_stmt s = before->entry; s < before->stmt_count; s++) {
        if (!vyre_waits_for_grid(before->stmts[s].op)) {
            continue;
        }
        while (!vyre_waits_for_grid(now->stmts[at].op)) {
            at++;
        }
        if (kept < m->barriers.kept.count && m->barriers.kept.data[kept].stmt == s) {
            m->barriers.kept.data[kept++].stmt = at;
        }
        if (cut < m->cuts.count && m->cuts.data[cut] == s) {
            m->cuts.data[cut++] = at;
        }
        at++;
    }
}

/* Variables have other numbers now. */
static bool renumber_origin(vyre_module *m) {
    const vyre_bases *bases = &m->bases;
    vyre_var *origin = vyre_alloc(&m->allocator, bases->var_count, sizeof *origin);
    if (!origin) {
        return false;
    }
    memset(origin, 0xff, bases->var_count * sizeof *origin);
    for (vyre_var v = 0; v < bases->old_count; v++) {
        origin[bases->number[v]] = m->origin[v];
    }
    vyre_free(&m->allocator, m->origin, m->origin_count, sizeof *m->origin);
    m->origin = origin;
    m->origin_count = bases->var_count;
    return true;
}

static vyre_status add_bases(vyre_module *m, vyre_split_scope scope, vyre_diag *diag) {
    vyre_program *before = m->source, *now = NULL;
    vyre_status status = vyre_bases_add(before, scope, &m->allocator, &now, &m->bases, diag);
    if (status != VYRE_OK) {
        return status;
    }
    m->source = now;
    if (m->bases.of) {
        find_waits_again(m, vyre_program_get(before));
        if (m->origin && !renumber_origin(m)) {
            status = vyre_fail_memory(diag, "splitting");
        }
    }
    vyre_program_release(before);
    return status;
}

/* Reductions and scans over the scope in parts between which lanes wait. */
static vyre_status part_reductions(vyre_program *program, vyre_split_scope scope,
                                   const vyre_allocator *a, vyre_program **out_program,
                                   vyre_diag *diag) {
    if (scope == VYRE_SPLIT_SCOPE_GRID) {
        return vyre_lower_grid(program, a, out_program, diag);
    }
    vyre_capabilities can = vyre_capabilities_all();
    can.stmts &= ~(UINT64_C(1) << VYRE_STMT_GROUP);
    return vyre_lower_converge(program, &can, a, out_program, diag);
}

/* The program whose blocks become segments. Removing barriers changes no variable. */
static vyre_status prepare(vyre_module *m, const vyre_program *program,
                           const vyre_split_options *options, vyre_diag *diag) {
    const vyre_allocator *a = &m->allocator;
    const vyre_capabilities all = vyre_capabilities_all();
    vyre_program *inlined = NULL, *flat = NULL, *even = NULL, *parted = NULL, *copied = NULL;
    vyre_program *apart = NULL, *settled = NULL;
    vyre_status status = vyre_settle(program, a, &settled, &m->conditions, diag);
    if (status == VYRE_OK) {
        status = vyre_inline(settled, a, &inlined, diag);
        vyre_program_release(settled);
    }
    if (status == VYRE_OK) {
        status = vyre_lower_rows(inlined, options->can ? options->can : &all, a, &flat, diag);
        vyre_program_release(inlined);
    }
    if (status == VYRE_OK) {
        status = vyre_lower_even(flat, options->scope, a, &even, diag);
        vyre_program_release(flat);
    }
    if (status == VYRE_OK) {
        status = part_reductions(even, options->scope, a, &parted, diag);
        vyre_program_release(even);
    }
    if (status == VYRE_OK) {
        status = vyre_lower_async(parted, options->scope, a, &copied, diag);
        vyre_program_release(parted);
    }
    if (status == VYRE_OK) {
        status = vyre_lower_continue(copied, options->scope, a, &m->inlined, diag);
        vyre_program_release(copied);
    }
    if (status == VYRE_OK) {
        status = vyre_webs(m->inlined, a, &apart, &m->origin, diag);
    }
    if (status != VYRE_OK) {
        return status;
    }
    m->origin_count = vyre_program_get(apart)->var_count;
    if (options->keep_barriers || options->scope != VYRE_SPLIT_SCOPE_GRID) {
        m->source = apart;
    } else {
        status = vyre_opt_barrier(apart, options->any_grid, a, &m->source, &m->barriers, diag);
        vyre_program_release(apart);
    }
    m->view.widest = UINT32_MAX;
    if (status == VYRE_OK && options->turn_loops) {
        status = vyre_turn_loops(m, options->ahead, options->trips_together, diag);
    }
    return status == VYRE_OK ? add_bases(m, options->scope, diag) : status;
}

/* The lowered program in place of the segment. What lowering adds is memory of its own, and the
 * record of traps. */
static vyre_status take_lowered(vyre_module *m, uint32_t segment, vyre_program *lowered,
                                vyre_diag *diag) {
    const uint32_t before = vyre_program_get(m->segments[segment])->decl_count;
    const uint32_t count = vyre_program_get(lowered)->decl_count;
    vyre_segment_decl *decls = vyre_alloc(&m->allocator, count, sizeof *decls);
    if (!decls) {
        vyre_program_release(lowered);
        return vyre_fail_memory(diag, "splitting");
    }
    const vyre_decl traps = vyre_traps_of(lowered, before);
    for (uint32_t d = 0; d < count; d++) {
        const uint8_t kind = d == traps ? VYRE_DECL_TRAP : VYRE_DECL_LOCAL;
        decls[d] = d < before ? m->decls[segment][d] : (vyre_segment_decl){kind, 0};
    }
    vyre_free(&m->allocator, m->decls[segment], before, sizeof *decls);
    vyre_program_release(m->segments[segment]);
    m->decls[segment] = decls;
    m->segments[segment] = lowered;
    return VYRE_OK;
}

static vyre_status lower_segments(vyre_module *m, const vyre_capabilities *can, vyre_diag *diag) {
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < m->view.segment_count && status == VYRE_OK; i++) {
        vyre_program *lowered = NULL;
        status = vyre_lower(m->segments[i], can, &m->allocator, &lowered, diag);
        if (status == VYRE_OK) {
            status = take_lowered(m, i, lowered, diag);
        }
    }
    return status;
}

vyre_status vyre_split(const vyre_program *program, const vyre_split_options *options,
                       const vyre_allocator *allocator, vyre_module **out_module, vyre_diag *diag) {
    static const vyre_split_options defaults;
    vyre_allocator a = vyre_allocator_or_system(allocator);
    options = options ? options : &defaults;
    if (options->scope != VYRE_SPLIT_SCOPE_GRID && vyre_contains_grid_sync(program)) {
        return vyre_fail_at(diag, VYRE_INVALID_ARGUMENT, "", vyre_program_place(program),
                            "split it at grid scope first, then its segments",
                            "program %s waits for its grid, which is more than a workgroup",
                            vyre_program_get(program)->name);
    }
    vyre_module *m = vyre_alloc_zeroed(&a, 1, sizeof *m);
    if (!m) {
        return vyre_fail_memory(diag, "splitting");
    }
    m->allocator = a;
    atomic_init(&m->references, 1);
    vyre_status status = prepare(m, program, options, diag);
    if (status == VYRE_OK) {
        status = split_blocks(m, options, diag);
    }
    if (status == VYRE_OK && options->can) {
        status = lower_segments(m, options->can, diag);
    }
    if (status != VYRE_OK) {
        vyre_module_release(m);
        return status;
    }
    *out_module = m;
    return VYRE_OK;
}
