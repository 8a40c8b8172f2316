/* Workers. Each has a context and an arena of its own, and takes units of work (groups or
 * lanes) from its share, then from that of others. A module is walked by every worker with a
 * position of its own; behind each launch all meet at the barrier, and then read the same memory,
 * so they come to the same steps.
 *
 * A lane that traps counts as ended: its worker notes the lowest one. Behind a launch each worker
 * looks at what all had noted before the barrier, so all stop at the same step; the notes alternate
 * between two places, since the next launch may have begun. What a worker has read for the schedule
 * the next launch may write: before it all meet again, or, if worker 0 does the launch alone, it
 * waits until all others wait for it. Whoever finds that time is over, or
 * that the run was cancelled, breaks the barrier, which lets everybody go.
 *
 * Work that is not worth two workers is done by worker 0 alone; if there is never more, nobody else
 * is woken. */
#include "backend/cpu/run.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/diag.h"
#include "kit/host_memory.h"

enum {
    LINE = 64,
    CHUNKS = 16, /* of each worker: small enough to share out what is left */
    UNEVEN_CHUNKS = 32,
    ALIGNED = 64,         /* lanes */
    DUMP = 512,           /* bytes: as many as a gang stores at once */
    MOST_COPIED = 1 << 24 /* bytes of a buffer that workers have copies of */
};

struct cpu_worker { /* NOLINT(clang-analyzer-optin.performance.Padding) */
    cpu_context context;
    cpu_buffer *buffers;            /* of the declarations of the piece at work */
    uint64_t *words;                /* of its position */
    vyre_segment_binding *segments; /* its own, which its position fills in */
    void *copies[CPU_MOST_COPIES];  /* of buffers, zeros between launches (copies.c) */
    bool dirty;                     /* not all of them are */
    bool owes;                      /* it has read what the next launch may write */
    size_t size;                    /* of all this, in one block */
    /* What others look at behind each barrier: a line that is hardly ever written. */
    alignas(LINE) uint64_t noted[2]; /* lowest lane that trapped, by turns */
    uint32_t piece;                  /* in which it did */
};

typedef struct job {
    cpu_kernel *kernel;
    const vyre_launch *launch;      /* of a program; of a module: as if launched in one */
    const vyre_module_launch *pass; /* NULL: a program */
    atomic_uint stopped;            /* a vyre_status, or VYRE_OK */
    atomic_uint stopped_in;         /* piece */
} job;

/* Memory of workers. */

typedef struct plan {
    size_t size, buffers, words, segments, tables, arena, kept;
} plan;

static size_t reserve(plan *p, size_t bytes) {
    const size_t at = p->size;
    p->size += (bytes + LINE - 1) / LINE * LINE;
    return at;
}

static size_t decls_of(const cpu_kernel *k, uint32_t piece) {
    return vyre_program_get(k->pieces[piece].group.program)->decl_count;
}

/* Bytes for memory, values and counts of so many declarations; tables follow one another. */
static size_t table_size(size_t count) {
    return count * (sizeof(vyre_memory) + sizeof(uint64_t) + sizeof(uint64_t));
}

static plan plan_worker(const cpu_kernel *k) {
    plan p = {0};
    size_t most = 0, tables = 0;
    uint64_t arena = 0;
    uint32_t sites = 0;
    for (uint32_t i = 0; i < k->piece_count; i++) {
        const size_t count = decls_of(k, i);
        most = count > most ? count : most;
        tables += table_size(count);
        arena = k->pieces[i].group.arena > arena ? k->pieces[i].group.arena : arena;
        sites = k->pieces[i].group.sites > sites ? k->pieces[i].group.sites : sites;
    }
    (void)reserve(&p, sizeof(cpu_worker));
    (void)reserve(&p, DUMP);
    p.buffers = reserve(&p, most * sizeof(cpu_buffer));
    p.words = reserve(&p, k->module ? vyre_position_words(k->module) * sizeof(uint64_t) : 0);
    p.segments = reserve(&p, k->piece_count * sizeof(vyre_segment_binding));
    p.tables = reserve(&p, k->module ? tables : 0);
    p.arena = reserve(&p, (size_t)arena);
    p.kept = reserve(&p, (size_t)sites * CPU_ROOM);
    p.size += LINE; /* to align it */
    return p;
}

static uint8_t *aligned(void *block) {
    uint8_t *bytes = block;
    return bytes + (LINE - (uintptr_t)bytes % LINE) % LINE;
}

/* The block that a worker lies in is in front of it: its address is kept in the kernel. */
static cpu_worker *make_worker(const cpu_kernel *k, void *block, const plan *p) {
    uint8_t *base = aligned(block);
    cpu_worker *w = (cpu_worker *)base;
    *w = (cpu_worker){.buffers = (cpu_buffer *)(base + p->buffers),
                      .words = (uint64_t *)(base + p->words),
                      .segments = (vyre_segment_binding *)(base + p->segments),
                      .size = p->size};
    uint8_t *table = base + p->tables;
    for (uint32_t i = 0; k->module && i < k->piece_count; i++) {
        const size_t count = decls_of(k, i);
        w->segments[i].memory = (vyre_memory *)table;
        w->segments[i].values = (uint64_t *)(table + count * sizeof(vyre_memory));
        w->segments[i].counts =
            (uint32_t *)(table + count * (sizeof(vyre_memory) + sizeof(uint64_t)));
        table += table_size(count);
    }
    return w;
}

static cpu_worker *worker_of(const cpu_kernel *k, uint32_t number) {
    return (cpu_worker *)aligned(k->workers[number]);
}

static void rest_copies(cpu_kernel *k, const vyre_allocator *a) {
    for (uint32_t i = 0; i < k->worker_count; i++) {
        for (uint32_t c = 0; k->workers[i] && c < CPU_MOST_COPIES; c++) {
            vyre_free(a, worker_of(k, i)->copies[c], k->copy_bytes[c], 1);
            worker_of(k, i)->copies[c] = NULL;
        }
    }
    memset(k->copy_bytes, 0, sizeof k->copy_bytes);
}

void cpu_kernel_rest(cpu_kernel *k, const vyre_allocator *a) {
    rest_copies(k, a);
    for (uint32_t i = 0; i < k->worker_count; i++) {
        if (k->workers[i]) {
            vyre_free(a, k->workers[i], worker_of(k, i)->size, 1);
        }
    }
    vyre_free(a, k->workers, k->worker_count, sizeof *k->workers);
    k->workers = NULL;
    k->worker_count = 0;
}

static vyre_status need_workers(cpu_kernel *k, uint32_t count, const vyre_allocator *a,
                                vyre_diag *diag) {
    if (k->worker_count >= count) {
        return VYRE_OK;
    }
    cpu_kernel_rest(k, a);
    const plan p = plan_worker(k);
    k->workers = vyre_alloc_zeroed(a, count, sizeof *k->workers);
    k->worker_count = k->workers ? count : 0;
    for (uint32_t i = 0; i < k->worker_count; i++) {
        void *block = vyre_alloc_zeroed(a, p.size, 1);
        if (!block) {
            cpu_kernel_rest(k, a);
            break;
        }
        k->workers[i] = block;
        (void)make_worker(k, block, &p);
    }
    return k->worker_count == count ? VYRE_OK : vyre_fail_memory(diag, "a launch");
}

/* Whether a launch of so many units may be worth copies of a buffer; `more`: perhaps it is one of
 * many that become one. */
static bool pays(const cpu_group *group, const cpu_copy *copy, uint64_t units, uint64_t count,
                 uint64_t more) {
    const uint32_t *size = vyre_program_get(group->program)->workgroup;
    const uint64_t lanes = group->form == CPU_FORM_ROWS ? 1 : size[0] * size[1] * size[2];
    return count > 0 && count <= MOST_COPIED / copy->size &&
           units * lanes * copy->sites >= count / more;
}

/* Bytes of each copy that some launch may want. */
static void plan_copies(const job *j, uint64_t out_bytes[CPU_MOST_COPIES]) {
    const cpu_kernel *k = j->kernel;
    for (uint32_t i = 0; i < k->piece_count; i++) {
        const cpu_group *group = &k->pieces[i].group;
        const uint64_t units = cpu_group_units(group, j->launch->grid);
        const uint32_t *counts = j->pass ? j->pass->segments[i].counts : j->launch->counts;
        for (uint32_t c = 0; c < group->copies.count; c++) {
            const cpu_copy *copy = &group->copies.of[c];
            const uint64_t bytes = (uint64_t)counts[copy->decl] * copy->size;
            if (pays(group, copy, units, counts[copy->decl], group->trips.most ? 8 : 1) &&
                bytes > out_bytes[c]) {
                out_bytes[c] = bytes;
            }
        }
    }
}

/* Copies for all workers, or for none: there is another way without. */
static void need_copies(const job *j, uint32_t workers, const vyre_allocator *a) {
    cpu_kernel *k = j->kernel;
    uint64_t bytes[CPU_MOST_COPIES];
    bool enough = true;
    memcpy(bytes, k->copy_bytes, sizeof bytes);
    plan_copies(j, bytes);
    if (workers == 1 || memcmp(bytes, k->copy_bytes, sizeof bytes) == 0) {
        return;
    }
    rest_copies(k, a);
    memcpy(k->copy_bytes, bytes, sizeof bytes);
    for (uint32_t i = 0; i < k->worker_count; i++) {
        for (uint32_t c = 0; c < CPU_MOST_COPIES; c++) {
            worker_of(k, i)->copies[c] = bytes[c] ? vyre_alloc_zeroed(a, bytes[c], 1) : NULL;
            enough &= !bytes[c] || worker_of(k, i)->copies[c];
        }
    }
    if (!enough) {
        rest_copies(k, a);
    }
}

/* At the beginning of a run; binding tables are the runtime's until a position fills them in. */
static void reset_worker(const job *j, uint32_t number) {
    const cpu_kernel *k = j->kernel;
    cpu_worker *w = worker_of(k, number);
    const plan p = plan_worker(k);
    uint8_t *base = (uint8_t *)w;
    cpu_context_init(&w->context);
    w->context.dump = base + (sizeof(cpu_worker) + LINE - 1) / LINE * LINE;
    w->context.arena = base + p.arena;
    w->context.kept = base + p.kept;
    memset(w->context.kept, 0, p.size - LINE - p.kept); /* of a run that was stopped */
    w->context.launch = j->launch;
    w->context.stream = k->stream;
    memcpy(w->context.grid, j->launch->grid, sizeof w->context.grid);
    w->noted[0] = w->noted[1] = UINT64_MAX;
    w->owes = false;
    memset(w->context.copies, 0, sizeof w->context.copies);
    for (uint32_t c = 0; w->dirty && c < CPU_MOST_COPIES; c++) { /* after a run that was stopped */
        if (w->copies[c]) {
            memset(w->copies[c], 0, k->copy_bytes[c]);
        }
    }
    w->dirty = false;
    for (uint32_t i = 0; j->pass && i < k->piece_count; i++) {
        const size_t count = decls_of(k, i);
        const vyre_segment_binding *from = &j->pass->segments[i], *to = &w->segments[i];
        memcpy(to->memory, from->memory, count * sizeof *to->memory);
        memcpy(to->values, from->values, count * sizeof *to->values);
        memcpy(to->counts, from->counts, count * sizeof *to->counts);
    }
}

/* Launching. */

static void bind(cpu_worker *w, const cpu_kernel *k, uint32_t piece, const vyre_launch *launch) {
    for (size_t i = 0; i < decls_of(k, piece); i++) {
        w->buffers[i] = launch->memory[i]
                            ? (cpu_buffer){vyre_host_bytes(launch->memory[i]), launch->counts[i]}
                            : (cpu_buffer){0};
    }
    w->context.buffers = w->buffers;
    w->context.values = launch->values;
}

/* The least that a worker takes at once: a small part of the end of its share; whole rows, or whole
 * vectors. */
static uint64_t chunk_of(const cpu_worker *w, const cpu_piece *p, uint64_t units,
                         uint32_t workers) {
    const uint64_t part = units / ((p->group.uneven ? UNEVEN_CHUNKS : CHUNKS) * (uint64_t)workers);
    const uint64_t chunk = part > p->group.grain ? part : p->group.grain;
    if (p->group.form != CPU_FORM_ROWS || p->group.width == 1) {
        return chunk;
    }
    const uint64_t unit = chunk >= w->context.wide ? w->context.wide : ALIGNED;
    return vyre_ceil_div(chunk, unit) * unit;
}

/* Before a launch: the others have read what they had to. */
static bool pay(cpu_worker *w, vyre_worker *me, bool is_small) {
    const bool owes = w->owes;
    w->owes = false;
    if (!owes || !me || me->count == 1) {
        return true;
    }
    return is_small ? vyre_barrier_gather(me->barrier, me->number)
                    : vyre_barrier_wait(me->barrier, me->number);
}

/* Whether the launch adds to copies; all workers come to the same. */
static bool begin_copies(const cpu_kernel *k, cpu_worker *w, const cpu_piece *p, uint64_t units) {
    for (uint32_t c = 0; c < p->group.copies.count; c++) {
        const cpu_copy *copy = &p->group.copies.of[c];
        const uint64_t count = w->buffers[copy->decl].count;
        const bool use =
            count * copy->size <= k->copy_bytes[c] && pays(&p->group, copy, units, count, 1);
        w->context.copies[c] = use ? w->copies[c] : NULL;
        w->dirty |= w->context.copies[c] != NULL;
    }
    return w->dirty;
}

/* When all are done: each puts a part together. */
static bool end_copies(const cpu_kernel *k, cpu_worker *w, vyre_worker *me, const cpu_piece *p) {
    if (!vyre_barrier_wait(me->barrier, me->number)) {
        return false;
    }
    for (uint32_t c = 0; c < p->group.copies.count; c++) {
        const cpu_copy *copy = &p->group.copies.of[c];
        const cpu_buffer *to = &w->buffers[copy->decl];
        const vyre_range part = vyre_share_even(to->count, LINE, me->number, me->count);
        for (uint32_t i = 0; w->context.copies[c] && i < me->count; i++) {
            cpu_join_copy(copy, to->bytes, worker_of(k, i)->copies[c], part.begin, part.end);
        }
        w->context.copies[c] = NULL;
    }
    w->dirty = false;
    return true;
}

/* Runs this worker's part of units [from, to); all workers have the same numbers. False: somebody
 * has broken the barrier. */
static bool run_units(const cpu_kernel *k, cpu_worker *w, vyre_worker *me, const cpu_piece *p,
                      vyre_range all) {
    const uint64_t units = all.end - all.begin;
    const bool is_small = !me || me->count == 1 || units <= p->group.grain;
    if (!pay(w, me, is_small)) {
        return false;
    }
    if (is_small) {
        if ((!me || me->number == 0) && units > 0) {
            p->run(&w->context, all.begin, all.end);
        }
        return true;
    }
    const bool copies = begin_copies(k, w, p, units);
    const uint64_t chunk = chunk_of(w, p, units, me->count);
    vyre_range r;
    if (vyre_ceil_div(units, chunk) <= me->count) { /* there would be nothing to steal */
        r = vyre_share_even(units, chunk, me->number, me->count);
        if (r.begin < r.end) {
            p->run(&w->context, all.begin + r.begin, all.begin + r.end);
        }
    } else {
        vyre_share_begin(&me->share, units, chunk, p->group.uneven ? 4 : 2);
        while (w->context.status == VYRE_OK && vyre_share_next(&me->share, &r)) {
            p->run(&w->context, all.begin + r.begin, all.begin + r.end);
        }
    }
    return !copies || w->context.status != VYRE_OK || end_copies(k, w, me, p);
}

/* Lanes of a row of the grid. */
static uint64_t row_of(const job *j, uint32_t piece, const uint32_t grid[3]) {
    const vyre_program *program = j->kernel->pieces[piece].group.program;
    return (uint64_t)grid[0] * vyre_program_get(program)->workgroup[0];
}

/* This worker's part of a launch that is so many trips (cpu_trips_fold); false: the run has to end.
 */
static bool run_piece(job *j, cpu_worker *w, vyre_worker *me, uint32_t piece, uint32_t trips) {
    const cpu_piece *p = &j->kernel->pieces[piece];
    uint64_t range[2] = {0, 0};
    const uint64_t before = w->context.trap_lane;
    w->context.wide = trips * row_of(j, piece, w->context.grid);
    if (p->clip) {
        p->clip(&w->context, range);
    } else {
        range[1] = cpu_group_units(&p->group, w->context.grid);
    }
    const bool ran = run_units(j->kernel, w, me, p, (vyre_range){range[0], range[1]});
    if (p->deliver && ran && w->context.status == VYRE_OK) {
        p->deliver(&w->context);
    }
    if (w->context.trap_lane != before) {
        w->piece = piece;
    }
    if (w->context.status != VYRE_OK) {
        atomic_store(&j->stopped, (unsigned)w->context.status);
        atomic_store(&j->stopped_in, piece);
    }
    return ran && w->context.status == VYRE_OK;
}

/* Rows of a trace: what each worker runs, and how long it waits for the others. */

static uint64_t begin_span(const job *j) {
    return j->launch->trace ? vyre_clock_now() : 0;
}

static void end_span(const job *j, const vyre_worker *me, const char *category, uint32_t piece,
                     uint64_t begin) {
    const cpu_kernel *k = j->kernel;
    if (!j->launch->trace) {
        return;
    }
    const vyre_span span = {.category = category,
                            .name = vyre_program_get(k->pieces[piece].group.program)->name,
                            .begin = begin,
                            .end = vyre_clock_now(),
                            .segment = k->module ? piece + 1 : 0,
                            .segment_count = k->module ? k->piece_count : 0,
                            .worker = 1 + (me ? me->number : 0)};
    vyre_trace_add(j->launch->trace, &span);
}

static bool run_traced(job *j, cpu_worker *w, vyre_worker *me, uint32_t piece, uint32_t trips) {
    const uint64_t begin = begin_span(j);
    const bool goes_on = run_piece(j, w, me, piece, trips);
    end_span(j, me, "segment", piece, begin);
    return goes_on;
}

static void program_job(vyre_worker *me, void *arg) {
    job *j = arg;
    if (!run_traced(j, worker_of(j->kernel, me ? me->number : 0), me, 0, 1) && me) {
        vyre_barrier_break(me->barrier);
    }
}

/* Walking. */

static vyre_status read_memory(void *user, vyre_memory memory, uint64_t offset, void *data,
                               uint64_t size, vyre_diag *diag) {
    (void)user, (void)diag;
    memcpy(data, (const char *)vyre_host_bytes(memory) + offset, size);
    return VYRE_OK;
}

/* Behind a piece (VYRE_NONE: behind none). */
static bool meet(const job *j, vyre_worker *me, uint32_t piece) {
    if (!me || me->count == 1) {
        return true;
    }
    const uint64_t begin = begin_span(j);
    const bool all_came = vyre_barrier_wait(me->barrier, me->number);
    if (piece != VYRE_NONE) {
        end_span(j, me, "barrier", piece, begin);
    }
    return all_came;
}

/* Whether a lane had trapped when all met. */
static bool has_trapped(const job *j, const vyre_worker *me, uint32_t round) {
    bool trapped = false;
    for (uint32_t i = 0; i < (me ? me->count : 1); i++) {
        trapped |= worker_of(j->kernel, i)->noted[round % 2] != UINT64_MAX;
    }
    return trapped;
}

/* Time is looked at between launches by one worker for all. */
static bool may_go_on(job *j, cpu_worker *w, vyre_worker *me) {
    const vyre_launch *l = j->launch;
    if ((me && me->number != 0) || (!l->deadline_ns && !l->cancel)) {
        return true;
    }
    w->context.status = vyre_launch_check_time(l, NULL);
    atomic_store(&j->stopped, (unsigned)w->context.status);
    return w->context.status == VYRE_OK;
}

static void do_collective(const job *j, const vyre_worker *me, const vyre_position *at,
                          vyre_stmt stmt) {
    const vyre_collective_copy copy =
        vyre_collective_on_one_rank(j->pass->module, stmt, j->pass->source->counts);
    if (copy.size > 0 && (!me || me->number == 0)) {
        memcpy(vyre_host_bytes(vyre_position_memory(at, j->pass, copy.to)),
               vyre_host_bytes(vyre_position_memory(at, j->pass, copy.from)), copy.size);
    }
}

/* One step; false: the run has to end, and others may wait. */
static bool walk_step(job *j, vyre_worker *me, cpu_worker *w, vyre_position *at,
                      const vyre_module_launch *pass, uint32_t *round) {
    const vyre_reader reader = {.read = read_memory};
    const vyre_step *step = &vyre_module_get(pass->module)->steps[at->step];
    const uint32_t number = at->step;
    uint32_t trips = 1;
    vyre_launch one;
    (void)vyre_position_enter(at, pass, &reader, &one, NULL); /* reading does not fail */
    if (step->segment != VYRE_NONE) {
        const cpu_trips *may = &j->kernel->pieces[step->segment].group.trips;
        if (may->most > 0) {
            trips = cpu_trips_fold(at, pass, may, row_of(j, step->segment, j->launch->grid));
        }
        bind(w, j->kernel, step->segment, &one);
        memcpy(w->context.grid, one.grid, sizeof w->context.grid);
        if (!run_traced(j, w, me, step->segment, trips)) {
            return false;
        }
    }
    if (step->segment != VYRE_NONE) {
        uint64_t *note = &w->noted[*round % 2];
        if (*note != w->context.trap_lane) {
            *note = w->context.trap_lane;
        }
        if (!meet(j, me, step->segment)) {
            return false;
        }
        ++*round;
    } else {
        w->owes |= vyre_position_meets(at);
    }
    if ((step->sync || step->kind == VYRE_STEP_END) && has_trapped(j, me, *round - 1)) {
        at->step = VYRE_NONE;
        return true;
    }
    if (!me || me->number == 0) {
        pass->visits[number] += trips;
        vyre_launch_progress(j->launch, step->segment != VYRE_NONE ? trips : 0,
                             (uint64_t)step->sync * trips);
    }
    (void)vyre_position_leave(at, pass, &reader, NULL);
    if (at->step != VYRE_NONE && step->collective != VYRE_NONE) {
        const bool all_came = pay(w, me, true);
        do_collective(j, me, at, step->collective);
        return all_came && meet(j, me, VYRE_NONE);
    }
    return may_go_on(j, w, me);
}

static void module_job(vyre_worker *me, void *arg) {
    job *j = arg;
    cpu_worker *w = worker_of(j->kernel, me ? me->number : 0);
    vyre_module_launch pass = *j->pass;
    pass.segments = w->segments;
    vyre_position at = vyre_position_begin(pass.module, w->words);
    uint32_t round = 0;
    bool goes_on = true;
    while (goes_on && at.step != VYRE_NONE) {
        goes_on = walk_step(j, me, w, &at, &pass, &round);
    }
    if (!me || me->number == 0) {
        vyre_position_finish(&at, &pass);
    }
    if (!goes_on && me) {
        vyre_barrier_break(me->barrier);
    }
}

/* Results. */

/* Of which part of the group the statement is: the group is cut anew, since kernels keep no more of
 * it than running needs. */
static vyre_status tell_trap(const cpu_kernel *k, const cpu_worker *w, const vyre_allocator *a,
                             vyre_launch_result *out_result, vyre_diag *diag) {
    const cpu_context *c = &w->context;
    const vyre_stmt stmt = (vyre_stmt)c->trap_site;
    cpu_group group;
    vyre_status status = cpu_group_create(k->pieces[w->piece].group.program, a, &group, diag);
    if (status != VYRE_OK) {
        return status;
    }
    const vyre_program *program = cpu_group_segment(&group, (uint32_t)(c->trap_site >> 32));
    out_result->trap_lane = c->trap_lane;
    status =
        vyre_fail_at(diag, VYRE_TRAP, "", vyre_program_stmt_place(program, stmt), NULL,
                     "lane %llu trapped: \"%s\" at address %llu (0x%llx)",
                     (unsigned long long)c->trap_lane, vyre_program_get(program)->stmts[stmt].text,
                     (unsigned long long)c->trap_address, (unsigned long long)c->trap_address);
    if (diag && k->module) {
        diag->segment = w->piece + 1;
    }
    cpu_group_finish(&group, a);
    return status;
}

static vyre_status tell(job *j, uint32_t workers, const vyre_allocator *a,
                        vyre_launch_result *out_result, vyre_diag *diag) {
    const cpu_kernel *k = j->kernel;
    if (atomic_load(&j->stopped) != VYRE_OK) {
        vyre_status status = vyre_launch_check_time(j->launch, diag);
        if (diag && k->module) {
            diag->segment = atomic_load(&j->stopped_in) + 1;
        }
        return status;
    }
    const cpu_worker *lowest = worker_of(k, 0);
    for (uint32_t i = 1; i < workers; i++) {
        const cpu_worker *w = worker_of(k, i);
        lowest = w->context.trap_lane < lowest->context.trap_lane ? w : lowest;
    }
    return lowest->context.trap_lane == UINT64_MAX ? VYRE_OK
                                                   : tell_trap(k, lowest, a, out_result, diag);
}

static uint32_t workers_for(const cpu_kernel *k, const vyre_team *team, const uint32_t grid[3]) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < k->piece_count; i++) {
        const cpu_group *group = &k->pieces[i].group;
        const uint64_t grains = vyre_ceil_div(cpu_group_units(group, grid), group->grain);
        most = grains > most ? grains : most;
    }
    const uint32_t size = vyre_team_size(team);
    return most < size ? (uint32_t)most : size;
}

static vyre_status run(job *j, vyre_team *team, vyre_team_job work, const vyre_allocator *a,
                       vyre_launch_result *out_result, vyre_diag *diag) {
    uint32_t workers = workers_for(j->kernel, team, j->launch->grid);
    workers = workers ? workers : 1;
    vyre_status status = need_workers(j->kernel, workers, a, diag);
    if (status == VYRE_OK) {
        need_copies(j, workers, a);
    }
    for (uint32_t i = 0; i < workers && status == VYRE_OK; i++) {
        reset_worker(j, i);
        if (!j->pass) {
            bind(worker_of(j->kernel, i), j->kernel, 0, j->launch);
        }
    }
    if (status == VYRE_OK) {
        status = vyre_team_run(team, workers, work, j, NULL, diag);
    }
    return status == VYRE_OK ? tell(j, workers, a, out_result, diag) : status;
}

vyre_status cpu_run_program(cpu_kernel *kernel, vyre_team *team, const vyre_launch *launch,
                            const vyre_allocator *a, vyre_launch_result *out_result,
                            vyre_diag *diag) {
    job j = {.kernel = kernel, .launch = launch};
    return run(&j, team, program_job, a, out_result, diag);
}

vyre_status cpu_run_module(cpu_kernel *kernel, vyre_team *team, const vyre_module_launch *pass,
                           const vyre_allocator *a, vyre_launch_result *out_result,
                           vyre_diag *diag) {
    job j = {.kernel = kernel, .launch = pass->source, .pass = pass};
    return run(&j, team, module_job, a, out_result, diag);
}
