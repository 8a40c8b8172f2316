/* Random order-free programs against the reference backend:
 * vyre_fuzz_diff [--backend B] [--count N] [--seed S] [--jobs J] [--cases DIR] [--print] [--cells].
 * Program i has the seed S + i. A program that differs is reduced and written to DIR. With --cells
 * programs are only made and looked at.
 *
 * Each job is a process that takes every J-th seed (or batch of them) and counts in memory it
 * shares with the parent, which tells the progress, adds up and, when a job dies, names the seed
 * and starts it anew behind it. Exit: 0 all the same and every class of programs often enough, 1
 * not so, 2 usage, 130 interrupted. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "diff/differ.h"
#include "diff/reduce.h"
#include "diff/totals.h"
#include "random/random_program.h"
#include "vyre/check.h"

/* So many failures of each kind are reduced by each job. */
enum { REPORTED = 5, MOST_JOBS = 64, INTERRUPTED = 130 };

typedef struct options {
    const char *backend, *cases;
    uint64_t count, seed;
    uint32_t jobs;
    bool print, cells;
} options;

/* Of a job, shared with the parent. */
typedef struct job {
    differ_totals totals;
    uint64_t begun; /* programs; the last of them may not be done */
    uint64_t died;  /* programs in which it did */
    pid_t process;  /* the parent's */
} job;

static volatile sig_atomic_t interrupted;

static void interrupt(int number) {
    (void)number;
    interrupted = 1;
}

static bool to_file(void *user, const char *text, size_t length) {
    return fwrite(text, 1, length, user) == length;
}

/* Shrinks a program that differs and writes it down. */
static void report(differ *d, const options *o, uint64_t seed, vyre_program *program,
                   differ_result result) {
    printf("seed %" PRIu64 ": %s\n", seed, d->why);
    fflush(stdout); /* reducing may take long */
    vyre_program *small = reduce(d, program, result, &interrupted);
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%.*s-%" PRIu64 ".vy", o->cases,
                   (int)strcspn(o->backend, ":"), o->backend, seed);
    (void)differ_check(d, small);
    FILE *file = fopen(path, "w");
    if (file) {
        fprintf(file, "// seed %" PRIu64 ": %s\n", seed, d->why);
        (void)vyre_program_print(small, to_file, file);
        (void)fclose(file);
        printf("    reduced to %u statements: %s\n", vyre_program_get(small)->stmt_count, path);
    } else {
        printf("    %s can't be written\n", path);
    }
    fflush(stdout);
    vyre_program_release(small);
}

/* Only what the program holds, and whether it is valid. */
static void look(differ *d, uint64_t seed, const vyre_program *program, differ_totals *t) {
    vyre_diag diag = {0};
    const bool valid =
        vyre_check(program, NULL, &(vyre_diag_list){.items = &diag, .capacity = 1}) == VYRE_OK;
    if (!valid) {
        printf("seed %" PRIu64 ": %s\n", seed, diag.message);
    } else if (coverage_of(program, &d->cells)) {
        differ_totals_cover(t, &d->cells);
    }
    t->programs++;
    t->results[valid ? DIFFER_SAME : DIFFER_INVALID]++;
}

static void one(differ *d, const options *o, uint64_t seed, differ_totals *t) {
    vyre_program *program = NULL;
    vyre_diag diag = {0};
    if (random_order_free(seed, &program, &diag) != VYRE_OK) {
        printf("seed %" PRIu64 ": %s\n", seed, diag.message);
        t->programs++;
        t->results[DIFFER_INVALID]++;
        return;
    }
    if (o->print) {
        (void)vyre_program_print(program, to_file, stdout);
        fflush(stdout);
    }
    if (o->cells) {
        look(d, seed, program, t);
        vyre_program_release(program);
        return;
    }
    differ_draw(d, seed);
    const differ_result result = differ_check(d, program);
    differ_totals_count(t, d, result);
    if (result != DIFFER_SAME && t->results[result] <= REPORTED) {
        report(d, o, seed, program, result);
    }
    vyre_program_release(program);
}

/* Jobs take batches in turn. */
static uint64_t seed_of(const options *o, uint32_t number, uint64_t program) {
    const uint64_t batch = differ_batch(differ_backend_of(o->backend));
    return o->seed + (program / batch * o->jobs + number) * batch + program % batch;
}

static bool is_left(const options *o, uint32_t number, uint64_t program) {
    return seed_of(o, number, program) - o->seed < o->count;
}

/* Behind the last seed of a job's batch. */
static uint64_t batch_end(const options *o, uint32_t number, uint64_t program) {
    const uint64_t batch = differ_batch(differ_backend_of(o->backend));
    const uint64_t end = seed_of(o, number, program) + batch - program % batch;
    return end - o->seed < o->count ? end : o->seed + o->count;
}

/* The whole life of a job's process. */
static int work(const options *o, uint32_t number, job *j) {
    static differ d;
    vyre_diag diag = {0};
    if (differ_init(&d, o->backend, &diag) != VYRE_OK) {
        fprintf(stderr, "vyre_fuzz_diff: %s\n", diag.message);
        differ_finish(&d);
        return 2;
    }
    d.takes_turns = true; /* twice as many programs find more than each of them twice */
    uint64_t announced = 0;
    while (!interrupted && is_left(o, number, j->begun)) {
        const uint64_t seed = seed_of(o, number, j->begun);
        if (seed >= announced && !o->cells) {
            announced = differ_announce(&d, seed, batch_end(o, number, j->begun));
        }
        j->begun++;
        one(&d, o, seed, &j->totals);
    }
    differ_finish(&d);
    return 0;
}

static bool start(const options *o, uint32_t number, job *j) {
    fflush(stdout);
    const pid_t process = fork();
    if (process == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int status = work(o, number, j);
        fflush(stdout);
        _exit(status);
    }
    j->process = process;
    return process > 0;
}

/* A job has ended; true if it goes on. A job that dies has begun one program more than it has
 * counted. */
static bool ended(const options *o, uint32_t number, job *j, int status) {
    j->process = 0;
    if (WIFEXITED(status)) {
        interrupted |= WEXITSTATUS(status) != 0;
        return false;
    }
    printf("seed %" PRIu64 ": killed by signal %d\n", seed_of(o, number, j->begun - 1),
           WTERMSIG(status));
    j->died++;
    return !interrupted && start(o, number, j);
}

static uint64_t begun(const options *o, const job *jobs) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < o->jobs; i++) {
        sum += jobs[i].begun;
    }
    return sum;
}

/* On a terminal a line that changes, else one now and then. */
static void progress(const options *o, const job *jobs, uint64_t since, uint64_t *next) {
    const bool terminal = isatty(STDERR_FILENO) != 0;
    const uint64_t now = vyre_clock_now(), done = begun(o, jobs);
    if (now < *next || done == 0) {
        return;
    }
    *next = now + (terminal ? UINT64_C(1000000000) : UINT64_C(30000000000));
    const double seconds = (double)(now - since) * 1e-9, rate = (double)done / seconds;
    const uint64_t left = (uint64_t)((double)(o->count - done) / rate);
    fprintf(stderr,
            "%s%" PRIu64 " of %" PRIu64 " programs, %.0f per second, %" PRIu64 " min %02" PRIu64
            " s left%s",
            terminal ? "\r" : "", done, o->count, rate, left / 60, left % 60,
            terminal ? "  " : "\n");
    if (terminal && done == o->count) {
        fputc('\n', stderr);
    }
    fflush(stderr);
}

static void run_jobs(const options *o, job *jobs) {
    const struct timespec pause = {.tv_nsec = 20000000};
    const uint64_t since = vyre_clock_now();
    uint64_t next = since + UINT64_C(1000000000);
    uint32_t running = 0;
    for (uint32_t i = 0; i < o->jobs; i++) {
        running += start(o, i, &jobs[i]);
    }
    while (running > 0) {
        for (uint32_t i = 0; i < o->jobs; i++) {
            int status = 0;
            if (jobs[i].process > 0 && waitpid(jobs[i].process, &status, WNOHANG) > 0) {
                running -= !ended(o, i, &jobs[i], status);
            } else if (jobs[i].process > 0 && interrupted) {
                (void)kill(jobs[i].process, SIGTERM);
            }
        }
        progress(o, jobs, since, &next);
        (void)nanosleep(&pause, NULL);
    }
}

static uint32_t parse_jobs(const char *text) {
    const unsigned long jobs = strtoul(text, NULL, 0);
    return jobs > MOST_JOBS ? MOST_JOBS : (uint32_t)jobs;
}

static bool parse_options(int argc, char **argv, options *o) {
    for (int i = 1; i < argc; i++) {
        const bool value = i + 1 < argc;
        if (!strcmp(argv[i], "--print")) {
            o->print = true;
        } else if (!strcmp(argv[i], "--cells")) {
            o->cells = true;
        } else if (!strcmp(argv[i], "--backend") && value) {
            o->backend = argv[++i];
        } else if (!strcmp(argv[i], "--cases") && value) {
            o->cases = argv[++i];
        } else if (!strcmp(argv[i], "--count") && value) {
            o->count = strtoull(argv[++i], NULL, 0);
        } else if (!strcmp(argv[i], "--seed") && value) {
            o->seed = strtoull(argv[++i], NULL, 0);
        } else if (!strcmp(argv[i], "--jobs") && value) {
            o->jobs = parse_jobs(argv[++i]);
        } else {
            return false;
        }
    }
    return o->count > 0 && o->jobs > 0;
}

/* The sums and the last line. */
static int conclude(const options *o, const job *jobs) {
    static differ_totals sum;
    uint64_t least = UINT64_MAX, died = 0;
    for (uint32_t i = 0; i < o->jobs; i++) {
        differ_totals_add(&sum, &jobs[i].totals);
        const uint64_t next = seed_of(o, i, jobs[i].begun);
        least = next < least ? next : least;
        died += jobs[i].died;
    }
    const uint64_t failures = differ_totals_failures(&sum) + died;
    const bool whole = sum.programs + died == o->count;
    differ_totals_print_cells(&sum, stdout);
    if (!o->cells) {
        differ_totals_print(&sum, stdout);
        differ_totals_print_draws(&sum, differ_backend_of(o->backend), stdout);
    }
    const bool enough =
        o->cells ? differ_totals_cells_suffice(&sum, DIFFER_CELL_ONE_OF, stdout)
                 : differ_totals_suffice(&sum, differ_backend_of(o->backend), stdout) &&
                       differ_totals_draws_suffice(&sum, differ_backend_of(o->backend), stdout);
    printf("diff: %s against ref, seeds %" PRIu64 " to %" PRIu64 ", %" PRIu64 " programs, %" PRIu64
           " failures%s",
           o->backend, o->seed, o->seed + o->count - 1, sum.programs + died, failures,
           enough ? "" : ", some classes too rare");
    if (!whole) {
        printf("; interrupted: all below seed %" PRIu64 " are done", least);
    }
    printf("\n");
    return failures != 0 || !enough ? 1 : whole ? 0 : INTERRUPTED;
}

int main(int argc, char **argv) {
    options o = {.backend = "ref-split", .cases = ".", .count = 2000, .seed = 1, .jobs = 1};
    if (!parse_options(argc, argv, &o)) {
        fprintf(stderr, "usage: vyre_fuzz_diff [--backend B] [--count N] [--seed S] [--jobs J] "
                        "[--cases DIR] [--print] [--cells]\n");
        return 2;
    }
    job *jobs = mmap(NULL, MOST_JOBS * sizeof *jobs, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (jobs == MAP_FAILED) {
        perror("vyre_fuzz_diff");
        return 1;
    }
    (void)signal(SIGINT, interrupt);
    (void)signal(SIGTERM, interrupt);
    run_jobs(&o, jobs);
    return conclude(&o, jobs);
}
