/* A process for each contestant. It prepares, runs once, and then waits for turns; between turns it
 * is stopped, so that nothing of it runs, whatever its idle threads would like to do. In a turn it
 * runs once without the clock if that is short, since the others have emptied the caches, and then
 * until it has run long enough to be measured.
 *
 * What was lost to others on the machine is read from the scheduler: how long a thread that could
 * run did not, and from the host: how long the machine itself did not. */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compare.h"

enum {
    SHORT_NS = 50000000, /* runs below this have a warm-up in each bench_turn */
    TURN_NS = 20000000,  /* a bench_turn measures at least that long */
    MOST_RUNS = 64,      /* and no more runs than this */
    LONGEST_MS = 900000, /* a turn that takes longer is over */
    MOST_NEIGHBOURS = 8,
    TICK_NS = 10000000 /* of the host's clock in /proc/stat */
};

typedef enum bench_command { RUN = 1, COLLECT } bench_command;

typedef struct bench_reply {
    bool is_good;
    bench_turn turn;
    char message[MESSAGE];
} bench_reply;

static uint64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t now(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

/* In the process */

/* The number in a line behind `words` others; 0 if there is none. */
static uint64_t number_in(const char *path, int words) {
    char line[256];
    FILE *file = fopen(path, "r");
    char *at = file ? fgets(line, sizeof line, file) : NULL;
    if (file) {
        fclose(file);
    }
    for (int i = 0; i < words && at; i++) {
        at += strspn(at, " ");
        at = strchr(at, ' ');
    }
    return at ? strtoull(at, NULL, 10) : 0;
}

/* Nanoseconds that threads of this process waited for a core, all together. */
static uint64_t waited_ns(void) {
    uint64_t sum = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
        char path[300];
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", entry->d_name);
        sum += entry->d_name[0] != '.' ? number_in(path, 1) : 0;
    }
    if (tasks) {
        closedir(tasks);
    }
    return sum;
}

static uint64_t stolen_ns(void) {
    return number_in("/proc/stat", 8) * TICK_NS;
}

static int by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void take_turn(bench_way *way, uint64_t *last, bench_reply *reply) {
    uint64_t times[MOST_RUNS], sum = 0, count = 0, ignored;
    reply->is_good = true;
    if (*last < SHORT_NS) {
        reply->is_good = way->reset(way, reply->message) && way->run(way, &ignored, reply->message);
    }
    uint64_t waited = waited_ns(), stolen = stolen_ns(), begin = now();
    uint64_t all = clock_ns(CLOCK_PROCESS_CPUTIME_ID), mine = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    while (reply->is_good && count < MOST_RUNS && (count == 0 || sum < TURN_NS)) {
        reply->is_good =
            way->reset(way, reply->message) && way->run(way, &times[count], reply->message);
        if (reply->is_good) {
            sum += times[count++];
        }
    }
    if (reply->is_good) {
        uint64_t lost = waited_ns() - waited, taken = stolen_ns() - stolen, wall = now() - begin;
        qsort(times, count, sizeof times[0], by_size);
        *last = times[count / 2];
        reply->turn.ns = *last + (*last == 0);
        reply->turn.was_lost = !way_counts_cpu && lost + taken > wall / 32;
        all = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - all;
        mine = clock_ns(CLOCK_THREAD_CPUTIME_ID) - mine;
        reply->turn.was_alone = !way_counts_cpu && all - mine < all / 8;
    }
}

static void serve(const bench_contestant *c, int channel) {
    bench_reply reply = {0};
    bench_way way = {0};
    uint64_t last = 0;
    bool good = c->backend ? ours_prepare(c->backend, &c->own, &way, reply.message)
                           : theirs_prepare(c->object, c->peer, &c->own, &way, reply.message);
    reply.is_good = good && way.reset(&way, reply.message) && way.run(&way, &last, reply.message) &&
                    way.collect(&way, reply.message);
    for (unsigned char command;
         write(channel, &reply, sizeof reply) == sizeof reply && read(channel, &command, 1) == 1;) {
        memset(&reply, 0, sizeof reply);
        if (command == RUN) {
            take_turn(&way, &last, &reply);
        } else {
            reply.is_good = way.collect(&way, reply.message);
        }
    }
    _exit(0);
}

/* Outside */

static bool hear(bench_contestant *c, bench_turn *out) {
    bench_reply reply = {0};
    size_t have = 0;
    struct pollfd ready = {.fd = c->channel, .events = POLLIN};
    snprintf(reply.message, MESSAGE, "it ended without a word");
    while (have < sizeof reply) {
        int count = poll(&ready, 1, LONGEST_MS);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            snprintf(reply.message, MESSAGE, "it took too long");
            break;
        }
        ssize_t got = read(c->channel, (char *)&reply + have, sizeof reply - have);
        if (got <= 0) {
            snprintf(reply.message, MESSAGE, "it ended without a word");
            break;
        }
        have += (size_t)got;
    }
    bool good = have == sizeof reply && reply.is_good;
    if (good && out) {
        *out = reply.turn;
    }
    if (!good) {
        snprintf(c->message, MESSAGE, "%.*s", MESSAGE - 1, reply.message);
        contestant_finish(c);
    } else {
        kill(c->pid, SIGSTOP);
    }
    return good;
}

static bool ask(bench_contestant *c, bench_command command, bench_turn *out) {
    unsigned char byte = (unsigned char)command;
    if (c->pid == 0) {
        return false;
    }
    kill(c->pid, SIGCONT);
    if (write(c->channel, &byte, 1) != 1) {
        snprintf(c->message, MESSAGE, "it has ended");
        contestant_finish(c);
        return false;
    }
    return hear(c, out);
}

static void *shared_room(size_t bytes) {
    void *room = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return room == MAP_FAILED ? NULL : room;
}

/* The ends of other contestants must not stay open in it, or it would not notice that ours is gone.
 */
static void close_others(int mine) {
    for (int fd = 3; fd < 64; fd++) {
        if (fd != mine) {
            close(fd);
        }
    }
}

bool contestant_start(bench_contestant *c, const bench_instance *instance) {
    int ends[2];
    c->own = *instance;
    for (uint32_t k = 0; k < instance->out_count; k++) {
        c->own.data.out[k] = shared_room(instance->data.out_bytes[k]);
        if (!c->own.data.out[k]) {
            snprintf(c->message, MESSAGE, "out of memory");
            return false;
        }
    }
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        snprintf(c->message, MESSAGE, "no socket: %.200s", strerror(errno));
        return false;
    }
    fflush(NULL);
    c->pid = fork();
    if (c->pid == 0) {
        close_others(ends[1]);
        serve(c, ends[1]);
    }
    close(ends[1]);
    c->channel = ends[0];
    if (c->pid < 0) {
        c->pid = 0;
        close(ends[0]);
        snprintf(c->message, MESSAGE, "no process: %.200s", strerror(errno));
        return false;
    }
    return hear(c, NULL);
}

/* Somebody else who wants a core. */
static pid_t start_neighbour(void) {
    pid_t pid = fork();
    if (pid == 0) {
        for (volatile uint64_t spin = 0;; spin++) {
        }
    }
    return pid;
}

void contestant_take_turn(bench_contestant *c, uint32_t round) {
    pid_t neighbours[MOST_NEIGHBOURS] = {0};
    for (uint32_t i = 0; i < c->neighbours && i < MOST_NEIGHBOURS && c->pid; i++) {
        neighbours[i] = start_neighbour();
    }
    ask(c, RUN, &c->turns[round]);
    for (uint32_t i = 0; i < MOST_NEIGHBOURS; i++) {
        if (neighbours[i] > 0) {
            kill(neighbours[i], SIGKILL);
            waitpid(neighbours[i], NULL, 0);
        }
    }
}

bool contestant_collect(bench_contestant *c) {
    return ask(c, COLLECT, NULL);
}

void contestant_finish(bench_contestant *c) {
    if (c->pid > 0) {
        kill(c->pid, SIGKILL);
        waitpid(c->pid, NULL, 0);
        close(c->channel);
        c->pid = 0;
    }
}

void contestant_release(bench_contestant *c) {
    contestant_finish(c);
    for (uint32_t k = 0; k < c->own.out_count; k++) {
        if (c->own.data.out[k]) {
            munmap(c->own.data.out[k], c->own.data.out_bytes[k] + 1);
        }
    }
}

bool in_process(bool (*work)(void *out, const void *argument), const void *argument, void *out,
                size_t shared) {
    void *room = shared_room(shared);
    int status = 1;
    fflush(NULL);
    pid_t pid = room ? fork() : -1;
    if (pid == 0) {
        _exit(work(room, argument) ? 0 : 1);
    }
    bool good = pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
    if (room) {
        memcpy(out, room, shared);
        munmap(room, shared + 1);
    }
    return good;
}
