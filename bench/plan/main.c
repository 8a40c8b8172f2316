/* bench_plan: the planner next to the prior algorithm.
 * usage: bench_plan [--quick] [--json FILE] [large|lines]   tables (default: both)
 *        bench_plan --verify N                              N random small sets against brute force
 *        bench_plan --digest N                              a digest of the plans of N random sets
 *        bench_plan [--quick] --against LIBRARY N           beside another planner (make
 * bench-plan)
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench.h"

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

size_t peak_memory(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (size_t)usage.ru_maxrss * 1024;
}

int main(int argc, char **argv) {
    bool quick = false, large = true, lines = true;
    const char *file = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            quick = true;
        } else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            file = argv[++i];
        } else if (strcmp(argv[i], "--verify") == 0 && i + 1 < argc) {
            return bench_verify(strtoull(argv[++i], NULL, 10));
        } else if (strcmp(argv[i], "--digest") == 0 && i + 1 < argc) {
            return bench_digest(strtoull(argv[++i], NULL, 10));
        } else if (strcmp(argv[i], "--against") == 0 && i + 2 < argc) {
            return bench_against(argv[i + 1], strtoull(argv[i + 2], NULL, 10),
                                 quick ? 100000 : 1000000);
        } else if (strcmp(argv[i], "large") == 0) {
            lines = false;
        } else if (strcmp(argv[i], "lines") == 0) {
            large = false;
        } else {
            fprintf(stderr, "usage: bench_plan [--quick] [--json FILE] [--verify N] [--digest N] "
                            "[--against LIBRARY N] [large|lines]\n");
            return 2;
        }
    }
    FILE *json = file ? fopen(file, "w") : NULL;
    if (file && !json) {
        perror(file);
        return 3;
    }
    int failures = 0;
    if (json) {
        fprintf(json, "{\"schema\":1,\"large\":[");
    }
    failures += large ? bench_large(json, quick ? 100000 : 1000000) : 0;
    if (json) {
        fprintf(json, "],\"lines\":[");
    }
    failures += lines ? bench_lines(json, quick) : 0;
    if (json) {
        fprintf(json, "]}\n");
        failures += fclose(json) != 0;
    }
    printf("%d failures\n", failures);
    return failures ? 1 : 0;
}
