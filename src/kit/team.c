/* The team. Each thread sleeps on a word of its own; a job adds one to the words of those that take
 * part, the last of them to return wakes the caller. So nobody who takes no part looks at the job,
 * and what a job is can be written without a lock between two jobs. Callers take a ticket each; the
 * one whose number is served owns everything that is not atomic.
 *
 * No deadlock: every wait ends in sleep (wait.c), never in spinning, so whoever is waited for gets
 * a core whatever the load; the barrier of a job begins anew with each job, also after it was
 * broken.
 *
 * Threads block all signals but those that tell of their own mistakes, so that handlers of the
 * program never run on them. They have the affinity of the thread that made them and are not
 * pinned: beside other processes the system knows better. */
#include "kit/team.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#ifdef __SSE__
#    include <xmmintrin.h>
#endif

#include "base/alloc.h"
#include "base/diag.h"
#include "kit/cores.h"

typedef struct member {
    alignas(64) vyre_word start; /* grows by one with each job that it takes part in */
    vyre_team *team;
    pthread_t thread;
    _Atomic uintptr_t self; /* the same, for others; 0: not there yet */
    alignas(64) vyre_worker worker;
} member;

/* Lines that are waited for lie apart from the others. */
struct vyre_team { /* NOLINT(clang-analyzer-optin.performance.Padding) */
    vyre_allocator allocator;
    pid_t process;
    uint32_t size; /* as asked for */
    uint32_t made; /* workers that there are, with the caller; 0: no thread was asked for yet */
    uint32_t cores;
    vyre_patience idle; /* between two jobs */
    member *members;
    vyre_share_slot *slots;

    _Atomic uint32_t tickets;
    vyre_word served;
    _Atomic uintptr_t owner; /* the thread that is served */

    vyre_team_job job;
    void *arg;
    vyre_patience patience;
    alignas(64) vyre_word running; /* threads that have not returned yet */
    _Atomic bool is_ending;
    vyre_barrier barrier;
};

static const uint32_t every_bit = ~UINT32_C(0);

static vyre_patience patience_of(uint32_t workers, uint32_t cores) {
    return workers > cores ? VYRE_PATIENCE_CROWDED : VYRE_PATIENCE_OWN_CORE;
}

/* The job with the arithmetic that programs are promised. */
static void run_job(vyre_team *team, vyre_worker *worker) {
#ifdef __SSE__
    enum { DEFAULT_MODE = 0x1f80 };
    unsigned mode = _mm_getcsr();
    _mm_setcsr(DEFAULT_MODE);
    team->job(worker, team->arg);
    _mm_setcsr(mode);
#else
    fenv_t mode;
    fegetenv(&mode);
    fesetenv(FE_DFL_ENV);
    team->job(worker, team->arg);
    fesetenv(&mode);
#endif
}

static void *thread_main(void *user) {
    member *me = user;
    vyre_team *team = me->team;
    uint32_t seen = 0;
    atomic_store(&me->self, (uintptr_t)pthread_self());
    for (;;) {
        seen = vyre_word_await(&me->start, every_bit, seen, team->idle);
        if (atomic_load(&team->is_ending)) {
            return NULL;
        }
        run_job(team, &me->worker);
        if (atomic_fetch_sub(&team->running.value, 1) == 1) {
            vyre_word_wake(&team->running);
        }
    }
}

static void block_signals(sigset_t *out_before) {
    static const int own_mistakes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own_mistakes / sizeof *own_mistakes; i++) {
        sigdelset(&all, own_mistakes[i]);
    }
    pthread_sigmask(SIG_SETMASK, &all, out_before);
}

static void make_threads(vyre_team *team) {
    sigset_t before;
    block_signals(&before);
    team->made = 1;
    while (team->made < team->size) {
        member *m = &team->members[team->made];
        m->team = team;
        if (pthread_create(&m->thread, NULL, thread_main, m) != 0) {
            break;
        }
        char name[16];
        snprintf(name, sizeof name, "vyre/%u", (unsigned)team->made);
        pthread_setname_np(m->thread, name);
        team->made++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

vyre_status vyre_team_create(const vyre_team_options *options, const vyre_allocator *allocator,
                             vyre_team **out_team, vyre_diag *diag) {
    uint32_t cores = vyre_cores_now(NULL).available;
    uint32_t size = options && options->threads ? options->threads : cores;
    if (size > VYRE_BARRIER_MOST_THREADS && options && options->threads) {
        return vyre_fail(diag, VYRE_LIMIT, "ask for fewer", "%u threads are more than %d",
                         (unsigned)size, VYRE_BARRIER_MOST_THREADS);
    }
    size = size < VYRE_BARRIER_MOST_THREADS ? size : VYRE_BARRIER_MOST_THREADS;
    const vyre_allocator a = vyre_allocator_or_system(allocator);
    vyre_team *team = vyre_alloc_aligned(&a, 1, sizeof *team, 64);
    member *members = vyre_alloc_aligned(&a, size, sizeof *members, 64);
    vyre_share_slot *slots = vyre_alloc_aligned(&a, size, sizeof *slots, 64);
    if (!team || !members || !slots) {
        vyre_free_aligned(&a, team, 1, sizeof *team, 64);
        vyre_free_aligned(&a, members, size, sizeof *members, 64);
        vyre_free_aligned(&a, slots, size, sizeof *slots, 64);
        return vyre_fail_memory(diag, "the workers of a device");
    }
    team->allocator = a;
    team->process = getpid();
    team->size = size;
    team->cores = cores;
    team->idle = size > cores ? VYRE_PATIENCE_CROWDED : VYRE_PATIENCE_IDLE;
    team->members = members;
    team->slots = slots;
    *out_team = team;
    return VYRE_OK;
}

static void end_threads(vyre_team *team) {
    atomic_store(&team->is_ending, true);
    for (uint32_t i = 1; i < team->made; i++) {
        atomic_fetch_add(&team->members[i].start.value, 1);
        vyre_word_wake(&team->members[i].start);
    }
    for (uint32_t i = 1; i < team->made; i++) {
        pthread_join(team->members[i].thread, NULL);
    }
}

void vyre_team_destroy(vyre_team *team) {
    if (team) {
        if (team->process == getpid()) {
            end_threads(team);
        }
        const vyre_allocator a = team->allocator;
        vyre_free_aligned(&a, team->members, team->size, sizeof *team->members, 64);
        vyre_free_aligned(&a, team->slots, team->size, sizeof *team->slots, 64);
        vyre_free_aligned(&a, team, 1, sizeof *team, 64);
    }
}

uint32_t vyre_team_size(const vyre_team *team) {
    return team->size;
}

static void take_turn(vyre_team *team) {
    uint32_t ticket = atomic_fetch_add(&team->tickets, 1);
    for (uint32_t now; (now = atomic_load(&team->served.value)) != ticket;) {
        vyre_word_await(&team->served, every_bit, now, VYRE_PATIENCE_CROWDED);
    }
    atomic_store(&team->owner, (uintptr_t)pthread_self());
}

static void end_turn(vyre_team *team) {
    atomic_store(&team->owner, 0);
    atomic_fetch_add(&team->served.value, 1);
    vyre_word_wake(&team->served);
}

/* Whether this thread is in a job of the team: only it writes its own identity. */
static bool is_inside(vyre_team *team) {
    uintptr_t self = (uintptr_t)pthread_self();
    bool is_worker = atomic_load(&team->owner) == self;
    for (uint32_t i = 1; i < team->size && !is_worker; i++) {
        is_worker = atomic_load(&team->members[i].self) == self;
    }
    return is_worker;
}

static void prepare(vyre_team *team, uint32_t workers) {
    team->patience = patience_of(workers, team->cores);
    vyre_barrier_init(&team->barrier, workers, team->patience);
    for (uint32_t i = 0; i < workers; i++) {
        vyre_worker *w = &team->members[i].worker;
        w->number = i;
        w->count = workers;
        w->barrier = &team->barrier;
        vyre_share_init(&w->share, team->slots, i, workers);
    }
    atomic_store(&team->running.value, workers - 1);
}

static void run_on(vyre_team *team, uint32_t workers) {
    prepare(team, workers);
    for (uint32_t i = 1; i < workers; i++) {
        atomic_fetch_add(&team->members[i].start.value, 1);
        vyre_word_wake(&team->members[i].start);
    }
    run_job(team, &team->members[0].worker);
    for (uint32_t left; (left = atomic_load(&team->running.value)) != 0;) {
        vyre_word_await(&team->running, every_bit, left, team->patience);
    }
}

vyre_status vyre_team_run(vyre_team *team, uint32_t workers, vyre_team_job job, void *arg,
                          uint64_t *out_barriers, vyre_diag *diag) {
    if (team->process != getpid()) {
        return vyre_fail(diag, VYRE_DEVICE_LOST, "open the device after fork()",
                         "the threads of this device have stayed in the parent process");
    }
    if (is_inside(team)) {
        return vyre_fail(diag, VYRE_INVALID_ARGUMENT, NULL,
                         "a job of a device's threads starts another one on them");
    }
    take_turn(team);
    uint32_t wanted = workers && workers < team->size ? workers : team->size;
    if (wanted > 1 && !team->made) {
        make_threads(team);
    }
    team->job = job;
    team->arg = arg;
    run_on(team, wanted == 1 || wanted < team->made ? wanted : team->made);
    if (out_barriers) {
        *out_barriers = vyre_barrier_passed(&team->barrier);
    }
    end_turn(team);
    return VYRE_OK;
}
