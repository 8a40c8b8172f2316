/* Runs the registered tests, one process each; prints failures and a closing count.
 * usage: test_x [-v] [-l] [NAME...]   only the tests of these names; where none has the name, those
 *                                     whose name contains it
 * TEST_SECONDS in the environment limits each test, TEST_STOP ends the run at the first failure,
 * TEST_PERCENT scales the counts of random cases (see test_scaled). */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/test.h"

enum { MOST_TESTS = 8192, DEFAULT_SECONDS = 300 };

static struct {
    const char *file;
    const char *name;
    test_function function;
} tests[MOST_TESTS];
static size_t test_count;

void test_register(const char *file, const char *name, test_function function) {
    if (test_count == MOST_TESTS) {
        fprintf(stderr, "too many tests: raise MOST_TESTS\n");
        exit(2);
    }
    tests[test_count].file = file;
    tests[test_count].name = name;
    tests[test_count++].function = function;
}

static bool is_whole(const char *name) {
    for (size_t i = 0; i < test_count; i++) {
        if (strcmp(tests[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool wanted(const char *name, int count, char **names) {
    bool any = false;
    for (int i = 0; i < count; i++) {
        if (names[i][0] != '-') {
            any = true;
            if (is_whole(names[i]) ? strcmp(name, names[i]) == 0 : strstr(name, names[i]) != NULL) {
                return true;
            }
        }
    }
    return !any;
}

/* The child's exit status; its process group is killed when it takes too long. */
static int run_one(size_t i, unsigned seconds) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        alarm(seconds);
        tests[i].function();
        fflush(NULL);
        _exit(test_failed() ? TEST_EXIT_FAILED : 0);
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

int main(int argc, char **argv) {
    bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    bool list = argc > 1 && strcmp(argv[1], "-l") == 0;
    bool stop = getenv("TEST_STOP") != NULL;
    const char *limit = getenv("TEST_SECONDS");
    unsigned seconds = limit ? (unsigned)strtoul(limit, NULL, 10) : DEFAULT_SECONDS;
    unsigned passed = 0, failed = 0, skipped = 0;
    for (size_t i = 0; i < test_count && !(stop && failed); i++) {
        if (!wanted(tests[i].name, argc - 1, argv + 1)) {
            continue;
        }
        if (list) {
            printf("%s\n", tests[i].name);
            continue;
        }
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        int status = run_one(i, seconds);
        clock_gettime(CLOCK_MONOTONIC, &end);
        double took =
            (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
            passed++;
            if (verbose) {
                printf("ok %s (%.3f s)\n", tests[i].name, took);
            }
        } else if (WIFEXITED(status) && WEXITSTATUS(status) == TEST_EXIT_SKIPPED) {
            skipped++;
            printf("SKIPPED %s\n", tests[i].name);
        } else {
            failed++;
            const char *file = strstr(tests[i].file, "tests/");
            printf("FAILED %s (%s)", tests[i].name, file ? file : tests[i].file);
            if (WIFSIGNALED(status)) {
                printf(": %s",
                       WTERMSIG(status) == SIGALRM ? "took too long" : strsignal(WTERMSIG(status)));
            }
            printf("\n");
        }
        fflush(stdout);
    }
    if (!list) {
        printf("%u passed, %u failed", passed, failed);
        if (skipped) {
            printf(", %u skipped", skipped);
        }
        printf("\n");
    }
    return failed ? 1 : 0;
}
