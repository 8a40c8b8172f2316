/* The team: all workers run, once, at once; barriers meet, break and are whole again; callers
 * queue; signals, floating-point modes and forks do no harm. */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __SSE__
#    include <xmmintrin.h>
#endif

#include "harness/test.h"
#include "kit/cores.h"
#include "kit/team.h"

static vyre_team *make_team(uint32_t threads) {
    vyre_team *team = NULL;
    vyre_diag diag = {0};
    vyre_team_options options = {.threads = threads};
    REQUIRE_OK(vyre_team_create(&options, NULL, &team, &diag), &diag);
    return team;
}

static void run(vyre_team *team, uint32_t workers, vyre_team_job job, void *arg) {
    vyre_diag diag = {0};
    REQUIRE_OK(vyre_team_run(team, workers, job, arg, NULL, &diag), &diag);
}

/* Threads of teams, by their names: sanitizers have threads of their own. */
static uint32_t count_threads(void) {
    DIR *tasks = opendir("/proc/self/task");
    REQUIRE(tasks != NULL);
    uint32_t count = 0;
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file) {
            count += fgets(name, sizeof name, file) && strncmp(name, "vyre/", 5) == 0;
            fclose(file);
        }
    }
    closedir(tasks);
    return count;
}

/* A thread that was joined may be seen for a moment longer; for ever is a hang. */
static void await_no_threads(void) {
    while (count_threads() != 0) {
        sched_yield();
    }
}

enum { MOST = 8 };
typedef struct record {
    uint32_t ran[MOST];
    uint32_t count;
    pthread_t threads[MOST];
} record;

static void note(vyre_worker *me, void *arg) {
    record *r = arg;
    r->ran[me->number]++; /* plain: the end of a job orders it before the next */
    r->threads[me->number] = pthread_self();
    if (me->number == 0) {
        r->count = me->count;
    }
}

TEST(all_workers_run_once_and_the_caller_is_the_first) {
    vyre_team *team = make_team(MOST);
    CHECK_EQ(vyre_team_size(team), MOST);
    CHECK_EQ(count_threads(), 0);
    record r = {0};
    run(team, 1, note, &r);
    CHECK_EQ(count_threads(), 0);
    uint32_t want[MOST] = {1};
    for (uint32_t workers = 0; workers <= MOST + 2; workers++) {
        run(team, workers, note, &r);
        uint32_t active = workers == 0 || workers > MOST ? MOST : workers;
        CHECK_EQ(r.count, active);
        CHECK(pthread_equal(r.threads[0], pthread_self()));
        for (uint32_t i = 0; i < active; i++) {
            want[i]++;
            CHECK(i == 0 || !pthread_equal(r.threads[i], r.threads[0]));
        }
        CHECK(memcmp(r.ran, want, sizeof want) == 0);
    }
    CHECK_EQ(count_threads(), MOST - 1);
    vyre_team_destroy(team);
    await_no_threads();
    vyre_team_destroy(NULL);
}

typedef struct meeting {
    uint32_t rounds;
    uint32_t at[MOST]; /* plain: the barrier orders them */
    _Atomic uint32_t wrong;
} meeting;

static void meet(vyre_worker *me, void *arg) {
    meeting *m = arg;
    for (uint32_t round = 1; round <= m->rounds; round++) {
        m->at[me->number] = round;
        bool met = vyre_barrier_wait(me->barrier, me->number);
        for (uint32_t i = 0; i < me->count; i++) {
            m->wrong += !met || m->at[i] != round;
        }
        m->wrong += !vyre_barrier_wait(me->barrier, me->number);
    }
}

TEST(barriers_meet_with_any_number_of_workers) {
    vyre_team *team = make_team(MOST);
    for (uint32_t workers = 1; workers <= MOST; workers++) {
        meeting m = {.rounds = (uint32_t)test_scaled(300)};
        uint64_t barriers = 0;
        REQUIRE_OK(vyre_team_run(team, workers, meet, &m, &barriers, NULL), NULL);
        CHECK_EQ(m.wrong, 0);
        CHECK_EQ(barriers, 2 * m.rounds);
    }
    vyre_team_destroy(team);
}

typedef struct gathering {
    uint32_t rounds;
    uint32_t at[MOST], sum; /* plain */
    _Atomic uint32_t wrong;
} gathering;

/* Worker 0 is late now and then, so that the others sleep, or one of them, so that worker 0 does.
 */
static void be_late(const vyre_worker *me, uint32_t round) {
    if (round % 16 == 0 && (round / 16 + me->number) % me->count == 0) {
        for (uint32_t i = 0; i < 20000; i++) {
            vyre_pause();
        }
    }
}

static void gather(vyre_worker *me, void *arg) {
    gathering *g = arg;
    for (uint32_t round = 1; round <= g->rounds; round++) {
        be_late(me, round);
        g->wrong += g->sum != (round - 1) * me->count; /* nobody adds while somebody reads */
        g->at[me->number] = round;
        g->wrong += !vyre_barrier_gather(me->barrier, me->number);
        if (me->number == 0) {
            g->sum = 0;
            for (uint32_t i = 0; i < me->count; i++) {
                g->sum += g->at[i];
            }
        }
        g->wrong += !vyre_barrier_wait(me->barrier, me->number);
    }
}

static void come_late(vyre_worker *me, void *arg) {
    const struct timespec long_enough = {.tv_nsec = 20000000};
    if (me->number == *(uint32_t *)arg) {
        (void)nanosleep(&long_enough, NULL);
    }
    (void)vyre_barrier_wait(me->barrier, me->number);
}

TEST(who_comes_last_wakes_the_others) {
    vyre_team *team = make_team(2);
    for (uint32_t late = 0; late < 2; late++) {
        uint64_t barriers = 0;
        REQUIRE_OK(vyre_team_run(team, 2, come_late, &late, &barriers, NULL), NULL);
        CHECK_EQ(barriers, 1);
    }
    vyre_team_destroy(team);
}

TEST(one_works_while_the_others_wait) {
    vyre_team *team = make_team(MOST);
    for (uint32_t workers = 1; workers <= MOST; workers++) {
        gathering g = {.rounds = (uint32_t)test_scaled(300)};
        REQUIRE_OK(vyre_team_run(team, workers, gather, &g, NULL, NULL), NULL);
        CHECK_EQ(g.wrong, 0);
    }
    vyre_team_destroy(team);
}

TEST(barriers_meet_on_one_core) {
    cpu_set_t all, one;
    REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
        if (CPU_ISSET(i, &all)) {
            CPU_SET(i, &one);
        }
    }
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK_EQ(vyre_cores_now(NULL).available, 1);
    vyre_team *alone = make_team(0);
    CHECK_EQ(vyre_team_size(alone), 1);
    vyre_team_destroy(alone);
    vyre_team *team = make_team(4);
    meeting m = {.rounds = (uint32_t)test_scaled(300)};
    run(team, 0, meet, &m);
    CHECK_EQ(m.wrong, 0);
    vyre_team_destroy(team);
}

typedef struct breaking {
    uint32_t breaker;
    _Atomic uint32_t met;
    _Atomic uint32_t released;
} breaking;

static void break_it(vyre_worker *me, void *arg) {
    breaking *b = arg;
    b->met += vyre_barrier_wait(me->barrier, me->number);
    if (me->number == b->breaker) {
        vyre_barrier_break(me->barrier);
        vyre_barrier_break(me->barrier);
    }
    for (int i = 0; i < 5000; i++) { /* more often than there is room to count */
        b->released += !vyre_barrier_wait(me->barrier, me->number);
    }
    b->released += vyre_barrier_is_broken(me->barrier);
}

TEST(a_broken_barrier_lets_all_through_and_the_team_goes_on) {
    vyre_team *team = make_team(4);
    for (uint32_t i = 0; i < test_scaled(50); i++) {
        breaking b = {.breaker = i % 4};
        run(team, 0, break_it, &b);
        CHECK(b.met <= 4 && b.met >= 1); /* some may see the break on their way out */
        CHECK_EQ(b.released, 4 * 5001);
        meeting m = {.rounds = 3};
        run(team, 0, meet, &m);
        CHECK_EQ(m.wrong, 0);
    }
    vyre_team_destroy(team);
}

/* All but one wait, long enough to sleep; then another thread breaks the barrier. */
typedef struct outside {
    _Atomic uint32_t waiting;
    _Atomic(vyre_barrier *) barrier;
    _Atomic uint32_t released;
} outside;

static void wait_for_rescue(vyre_worker *me, void *arg) {
    outside *o = arg;
    if (me->number == 1) { /* does not come until the barrier is broken */
        o->barrier = me->barrier;
        while (!vyre_barrier_is_broken(me->barrier)) {
            sched_yield();
        }
    }
    o->waiting++;
    o->released += !vyre_barrier_wait(me->barrier, me->number);
}

static void *rescue(void *arg) {
    outside *o = arg;
    while (!o->barrier || o->waiting < 2 ||
           atomic_load(&o->barrier->word.sleepers) < 2) { /* both are asleep */
        sched_yield();
    }
    vyre_barrier_break(o->barrier);
    return NULL;
}

TEST(another_thread_may_break_the_barrier_of_sleepers) {
    vyre_team *team = make_team(3);
    for (uint32_t i = 0; i < 10; i++) {
        outside o = {0};
        pthread_t thread;
        REQUIRE(pthread_create(&thread, NULL, rescue, &o) == 0);
        run(team, 0, wait_for_rescue, &o);
        pthread_join(thread, NULL);
        CHECK_EQ(o.released, 3);
    }
    vyre_team_destroy(team);
}

typedef struct caller {
    vyre_team *team;
    uint64_t *sum; /* shared, plain: one job at a time */
    _Atomic uint32_t *inside;
    uint32_t runs;
} caller;

static void add(vyre_worker *me, void *arg) {
    caller *c = arg;
    if (me->number == 0) {
        CHECK_EQ((*c->inside)++, 0);
    }
    vyre_barrier_wait(me->barrier, me->number);
    for (uint32_t i = 0; i < me->count; i++) {
        if (i == me->number) {
            (*c->sum)++;
        }
        vyre_barrier_wait(me->barrier, me->number);
    }
    if (me->number == 0) {
        (*c->inside)--;
    }
}

static void *call(void *arg) {
    caller *c = arg;
    for (uint32_t i = 0; i < c->runs; i++) {
        run(c->team, 1 + i % 3, add, c);
    }
    return NULL;
}

TEST(callers_queue) {
    vyre_team *team = make_team(3);
    uint64_t sum = 0;
    _Atomic uint32_t inside = 0;
    caller c = {
        .team = team, .sum = &sum, .inside = &inside, .runs = 3 * (uint32_t)test_scaled(50)};
    test_in_threads(call, &c, 0);
    CHECK_EQ(sum, (uint64_t)4 * c.runs * 2);
    vyre_team_destroy(team);
}

typedef struct nested {
    vyre_team *team;
    vyre_status status[2];
} nested;

static void run_inside(vyre_worker *me, void *arg) {
    nested *n = arg;
    record r = {0};
    n->status[me->number] = vyre_team_run(n->team, 0, note, &r, NULL, NULL);
}

TEST(a_job_that_runs_a_job_is_refused) {
    nested n = {.team = make_team(2)};
    run(n.team, 0, run_inside, &n);
    CHECK_EQ(n.status[0], VYRE_INVALID_ARGUMENT);
    CHECK_EQ(n.status[1], VYRE_INVALID_ARGUMENT);
    record r = {0};
    run(n.team, 0, note, &r);
    vyre_team_destroy(n.team);
}

TEST(a_child_after_fork_gets_an_error_and_may_have_a_team_of_its_own) {
    vyre_team *team = make_team(3);
    record r = {0};
    run(team, 0, note, &r);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        vyre_diag diag = {0};
        bool lost = vyre_team_run(team, 0, note, &r, NULL, &diag) == VYRE_DEVICE_LOST &&
                    vyre_team_run(team, 1, note, &r, NULL, NULL) == VYRE_DEVICE_LOST &&
                    strstr(diag.message, "parent") != NULL;
        vyre_team_destroy(team);
#ifdef __SANITIZE_THREAD__
        _exit(lost ? 0 : 1); /* the thread sanitizer makes no threads in such a child */
#endif
        vyre_team *own = make_team(3);
        meeting m = {.rounds = 10};
        run(own, 0, meet, &m);
        vyre_team_destroy(own);
        _exit(lost && m.wrong == 0 ? 0 : 1);
    }
    int status = 1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
    run(team, 0, note, &r);
    CHECK_EQ(r.ran[2], 2);
    vyre_team_destroy(team);
}

static void read_signals(vyre_worker *me, void *arg) {
    sigset_t *masks = arg;
    pthread_sigmask(SIG_SETMASK, NULL, &masks[me->number]);
}

TEST(threads_block_signals_and_the_caller_keeps_its_own) {
    sigset_t masks[2], before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    vyre_team *team = make_team(2);
    run(team, 0, read_signals, masks);
    vyre_team_destroy(team);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    const int signals[] = {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD, SIGPIPE, SIGSEGV};
    for (int i = 0; i < 7; i++) {
        bool is_mistake = signals[i] == SIGSEGV;
        CHECK_EQ(sigismember(&masks[1], signals[i]), !is_mistake);
        CHECK_EQ(sigismember(&masks[0], signals[i]), sigismember(&before, signals[i]));
        CHECK_EQ(sigismember(&after, signals[i]), sigismember(&before, signals[i]));
    }
}

#ifdef __SSE__
static void read_mode(vyre_worker *me, void *arg) {
    ((unsigned *)arg)[me->number] = _mm_getcsr() & 0xffc0u;
}

TEST(arithmetic_does_not_depend_on_the_modes_of_the_caller) {
    unsigned modes[3] = {0};
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040u | 0x6000u); /* flush to zero both ways, round towards zero */
    unsigned changed = _mm_getcsr();
    vyre_team *team = make_team(3); /* its threads inherit the mode */
    run(team, 0, read_mode, modes);
    vyre_team_destroy(team);
    CHECK_EQ(_mm_getcsr(), changed);
    _mm_setcsr(before);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(modes[i], 0x1f80);
    }
}
#endif

typedef struct work {
    _Atomic uint32_t taken[1000];
    uint32_t pieces;
} work;

static void steal(vyre_worker *me, void *arg) {
    work *w = arg;
    for (uint32_t piece = 0; piece < w->pieces; piece++) {
        vyre_share_begin(&me->share, 1000, 7, 3);
        for (vyre_range r; vyre_share_next(&me->share, &r);) {
            for (uint64_t i = r.begin; i < r.end; i++) {
                w->taken[i]++;
            }
        }
        vyre_barrier_wait(me->barrier, me->number);
    }
}

TEST(jobs_of_different_sizes_share_work_by_stealing) {
    vyre_team *team = make_team(4);
    static work w;
    uint32_t want = 0;
    for (uint32_t i = 0; i < test_scaled(60); i++) {
        w.pieces = 1 + i % 5;
        want += w.pieces;
        run(team, 1 + i % 4, steal, &w);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK_EQ(w.taken[i], want);
    }
    vyre_team_destroy(team);
}

TEST(many_jobs_leave_no_threads_and_no_memory) {
    test_heap heap = {0};
    vyre_allocator a = test_heap_allocator(&heap);
    vyre_team *team = NULL;
    vyre_team_options options = {.threads = 2};
    REQUIRE_OK(vyre_team_create(&options, &a, &team, NULL), NULL);
    uint64_t blocks = heap.live_blocks;
    record r = {0};
    uint32_t jobs = (uint32_t)test_scaled(10000);
    for (uint32_t i = 0; i < jobs; i++) {
        run(team, 0, note, &r);
    }
    CHECK_EQ(r.ran[0], jobs);
    CHECK_EQ(r.ran[1], jobs);
    CHECK_EQ(heap.live_blocks, blocks);
    CHECK_EQ(count_threads(), 1);
    vyre_team_destroy(team);
    CHECK_EQ(heap.live_blocks, 0);
    await_no_threads();
}

static vyre_status create_once(const vyre_allocator *a, void *user) {
    (void)user;
    vyre_team *team = NULL;
    vyre_status status = vyre_team_create(NULL, a, &team, NULL);
    vyre_team_destroy(team);
    return status;
}

TEST(every_allocation_may_fail) {
    CHECK_EQ(test_every_allocation(create_once, NULL, 10), 3);
}

TEST(too_many_threads_are_refused) {
    vyre_team *team = NULL;
    vyre_diag diag = {0};
    vyre_team_options options = {.threads = VYRE_BARRIER_MOST_THREADS + 1};
    CHECK_STATUS(vyre_team_create(&options, NULL, &team, &diag), VYRE_LIMIT, &diag);
    CHECK(team == NULL);
}
