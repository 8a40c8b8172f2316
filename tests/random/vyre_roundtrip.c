/* Prints and parses random programs: vyre_roundtrip [--count N] [--seed S] [--print]. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random/roundtrip.h"

int main(int argc, char **argv) {
    uint64_t count = 10000, seed = 1, failures = 0, bytes = 0;
    bool print = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--print")) {
            print = true;
        } else if (!strcmp(argv[i], "--count") && i + 1 < argc) {
            count = strtoull(argv[++i], NULL, 0);
        } else if (!strcmp(argv[i], "--seed") && i + 1 < argc) {
            seed = strtoull(argv[++i], NULL, 0);
        } else {
            fprintf(stderr, "usage: vyre_roundtrip [--count N] [--seed S] [--print]\n");
            return 2;
        }
    }
    roundtrip r;
    roundtrip_init(&r);
    for (uint64_t i = 0; i < count; i++) {
        vyre_program *program = NULL;
        const bool good = roundtrip_seed(&r, seed + i, &program);
        bytes += r.printed.length;
        if (!good && ++failures <= 20) {
            printf("seed %" PRIu64 ": %s\n", seed + i, r.why);
        }
        if (print) {
            printf("%s", vyre_text_string(&r.printed));
        }
        vyre_program_release(program);
    }
    roundtrip_finish(&r);
    printf("roundtrip: seeds %" PRIu64 " to %" PRIu64 ", %" PRIu64 " programs, %" PRIu64
           " bytes of text, %" PRIu64 " failures\n",
           seed, seed + count - 1, count, bytes, failures);
    return failures != 0 || count == 0;
}
