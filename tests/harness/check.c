/* What the checks do. Apart from main.c, so that programs with a main of their own may use them. */
#include <unistd.h>

#include "harness/test.h"

static bool failed_flag;

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
    _exit(TEST_EXIT_FAILED);
}

void test_skip(const char *reason) {
    printf("skipped: %s\n", reason);
    fflush(NULL);
    _exit(TEST_EXIT_SKIPPED);
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
