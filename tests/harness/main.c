/* Runs the registered tests, one process each; prints failures and a closing count.
 * usage: test_x [-v] [-l] [NAME...]   only tests whose name contains one of the NAMEs
 * TEST_SECONDS in the environment limits each test, TEST_STOP ends the run at the first failure,
 * TEST_PERCENT scales the counts of random cases (see test_scaled). */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/test.h"

enum { MOST_TESTS = 8192, EXIT_FAILED = 1, EXIT_SKIPPED = 77, DEFAULT_SECONDS = 300 };

static struct {
    const char *file;
    const char *name;
    test_function function;
} tests[MOST_TESTS];
static size_t test_count;
static bool failed_flag;

void test_register(const char *file, const char *name, test_function function) {
    if (test_count == MOST_TESTS) {
        fprintf(stderr, "too many tests: raise MOST_TESTS\n");
        exit(2);
    }
    tests[test_count].file = file;
    tests[test_count].name = name;
    tests[test_count++].function = function;
}

void test_fail(const char *file, int line, const char *format, ...) {
    failed_flag = true;
    va_list args;
    va_start(args, format);
    printf("%s:%d: ", file, line);
    vprintf(format, args);
    printf("\n");
    va_end(args);
    fflush(stdout);
}

bool test_failed(void) {
    return failed_flag;
}

void test_stop(void) {
    fflush(NULL);
    _exit(EXIT_FAILED);
}

void test_skip(const char *reason) {
    printf("skipped: %s\n", reason);
    fflush(NULL);
    _exit(EXIT_SKIPPED);
}

void test_check_eq(const char *file, int line, const char *what, uint64_t got, uint64_t want) {
    if (got != want) {
        test_fail(file, line, "%s is %" PRIu64 " (0x%" PRIx64 "), not %" PRIu64 " (0x%" PRIx64 ")",
                  what, got, got, want, want);
    }
}

void test_check_str(const char *file, int line, const char *what, const char *got,
                    const char *want) {
    if (!got || strcmp(got, want) != 0) {
        test_fail(file, line, "%s is\n<<<%s>>>, not\n<<<%s>>>", what, got ? got : "(null)", want);
    }
}

void test_check_has(const char *file, int line, const char *what, const char *text,
                    const char *part) {
    if (!text || !strstr(text, part)) {
        test_fail(file, line, "%s is\n<<<%s>>>, without\n<<<%s>>>", what, text ? text : "(null)",
                  part);
    }
}

bool test_check_status(const char *file, int line, const char *what, vyre_status got,
                       vyre_status want, const vyre_diag *diag) {
    if (got == want) {
        return true;
    }
    test_fail(file, line, "%s is \"%s\", not \"%s\"%s%s", what, vyre_status_name(got),
              vyre_status_name(want), diag && diag->message[0] ? ": " : "",
              diag ? diag->message : "");
    return false;
}

uint64_t test_scaled(uint64_t count) {
    const char *percent = getenv("TEST_PERCENT");
    uint64_t scaled = percent ? count * strtoull(percent, NULL, 10) / 100 : count;
    return scaled ? scaled : 1;
}

static bool wanted(const char *name, int count, char **names) {
    bool any = false;
    for (int i = 0; i < count; i++) {
        if (names[i][0] != '-') {
            any = true;
            if (strstr(name, names[i])) {
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
        _exit(failed_flag ? EXIT_FAILED : 0);
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
        } else if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED) {
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
