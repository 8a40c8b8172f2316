/* The line on a terminal that says how far a long run has come. A thread of its own writes it,
 * since the one that dispatches is in the library; it takes no signals, so that Ctrl-C interrupts
 * the other. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "run.h"

#define PATIENCE UINT64_C(2000000000) /* ns without a line */
#define PERIOD   UINT64_C(250000000)  /* ns between two */

struct run_watch {
    const vyre_progress *progress;
    vyre_progress before; /* what was there when it began */
    uint64_t begin;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool is_over;
    bool has_line;
};

static void show(run_watch *w) {
    const vyre_progress now = vyre_progress_read(w->progress);
    const double seconds = (double)(vyre_clock_now() - w->begin) * 1e-9;
    const uint64_t launches = now.launches - w->before.launches;
    fprintf(stderr,
            "\rvyre: %.1f s: %" PRIu64 " barriers, %" PRIu64
            " passes, %.0f launches per second\033[K",
            seconds, now.barriers - w->before.barriers, now.passes - w->before.passes,
            (double)launches / seconds);
    w->has_line = true;
}

static void *watch(void *arg) {
    run_watch *w = arg;
    uint64_t due = w->begin + PATIENCE;
    pthread_mutex_lock(&w->lock);
    while (!w->is_over) {
        const struct timespec until = {(time_t)(due / 1000000000), (long)(due % 1000000000)};
        (void)pthread_cond_timedwait(&w->ended, &w->lock, &until);
        if (!w->is_over && vyre_clock_now() >= due) {
            show(w);
            due = vyre_clock_now() + PERIOD;
        }
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* On the clock of vyre_clock_now. */
static bool prepare(run_watch *w) {
    pthread_condattr_t how;
    if (pthread_condattr_init(&how) != 0) {
        return false;
    }
    const bool good = pthread_condattr_setclock(&how, CLOCK_MONOTONIC) == 0 &&
                      pthread_cond_init(&w->ended, &how) == 0;
    pthread_condattr_destroy(&how);
    return good && pthread_mutex_init(&w->lock, NULL) == 0;
}

run_watch *run_watch_begin(const vyre_progress *progress) {
    run_watch *w = isatty(STDERR_FILENO) ? calloc(1, sizeof *w) : NULL;
    if (!w) {
        return NULL;
    }
    *w = (run_watch){
        .progress = progress, .before = vyre_progress_read(progress), .begin = vyre_clock_now()};
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const bool good = prepare(w) && pthread_create(&w->thread, NULL, watch, w) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!good) { /* it is only a line */
        free(w);
        return NULL;
    }
    return w;
}

void run_watch_end(run_watch *w) {
    if (!w) {
        return;
    }
    pthread_mutex_lock(&w->lock);
    w->is_over = true;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    if (w->has_line) {
        fputs("\r\033[K", stderr);
    }
    pthread_cond_destroy(&w->ended);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
